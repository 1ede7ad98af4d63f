// What the node says, as it says it: the event stream, and what is done without it.

const quietMs = 40_000;        // the stream has a comment every 15 s
const hiddenMs = 5 * 60_000;   // a page that nobody looks at leaves its place to others

class Refused extends Error {
  constructor(status, error = {}) {
    super([error.message ?? `HTTP ${status}`, error.hint].filter(Boolean).join('; '));
    this.status = status;
    this.full = error.code === 'too_many_streams';
  }
}

async function ask(path, options = {}) {
  const reply = await fetch(path, {cache: 'no-store', ...options});
  if (!reply.ok) {
    throw new Refused(reply.status, (await reply.json().catch(() => ({}))).error);
  }
  return reply;
}

const askJson = async (path) => (await ask(path, {signal: AbortSignal.timeout(10_000)})).json();

/**
 * Reads the stream until it ends. Not an EventSource: that tells neither why it was refused (503: full)
 * nor of the comments by which a connection that died unnoticed is told from one that has no news.
 */
async function follow(take, signal) {
  const ending = new AbortController();
  signal.addEventListener('abort', () => ending.abort());
  let heard = Date.now();
  const watchdog = setInterval(() => Date.now() - heard > quietMs && ending.abort(), 5000);
  try {
    const reply = await ask('/api/v1/stream', {signal: ending.signal});
    const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = '', piece = await reader.read(); !piece.done; piece = await reader.read()) {
      heard = Date.now();
      const blocks = (rest + piece.value).split('\n\n');
      rest = blocks.pop();
      for (const block of blocks) {
        const found = /^event: (\w+)\n(?:id: .*\n)?data: (.*)$/.exec(block);
        if (found) {
          take(found[1], JSON.parse(found[2]));
        }
      }
    }
  } finally {
    clearInterval(watchdog);
    ending.abort();
  }
}

/** How the page is connected, in the head of it. */
class Link {
  kind = 'connecting';
  since = Date.now();
  heard = null;  // when the data was true last
  why = '';

  set(kind, why = '') {
    if (kind !== this.kind) {
      this.since = Date.now();
      announcer.say({live: 'Live', polling: 'Not live, asked every ten seconds', lost: 'The connection is lost'}[kind] ?? '');
    }
    this.kind = kind;
    this.why = why;
    this.show();
  }

  show() {
    const lost = this.kind === 'lost' || this.kind === 'refused';
    const lostFor = Date.now() - this.since;
    const sign = {live: 'live', polling: 'settling', lost: 'bad', refused: 'bad', away: 'held'}[this.kind] ?? 'idle';
    setAttribute(byId('link'), 'class', this.kind);
    setAttribute(document.querySelector('#link use'), 'href', `#i-${sign}`);
    setText(byId('link-text'), {
      connecting: 'connecting',
      live: 'live',
      polling: 'not live: asked every 10 s, the node has as many watchers as may be',
      lost: `reconnecting since ${timeOfDay(this.since)} (${span(lostFor)})`,
      refused: `refused: ${this.why}`,
      away: 'paused while hidden',
    }[this.kind]);
    const stale = this.heard !== null && lost && (this.kind === 'refused' || lostFor > 2000);
    document.body.classList.toggle('stale', stale);
    byId('old').hidden = !stale;
    setText(byId('old-text'), stale ? `Not live. This is how it was at ${timeOfDay(this.heard)}.` : '');
  }
}

/** Keeps the model up to date for as long as the page is there. */
class Connection {
  constructor(model, link) {
    this.model = model;
    this.link = link;
    this.failures = 0;
    this.wake = () => {};
    this.away = null;  // aborts the stream
    addEventListener('online', () => this.wake());
    document.addEventListener('visibilitychange', () => this.onVisibility());
  }

  onVisibility() {
    clearTimeout(this.hiding);
    if (document.hidden) {
      this.hiding = setTimeout(() => { this.link.set('away'); this.away?.abort(); }, hiddenMs);
    } else {
      this.wake();
    }
  }

  async run() {
    for (;;) {
      this.away = new AbortController();
      try {
        await follow((name, data) => this.take(name, data), this.away.signal);
        this.lose();
      } catch (error) {
        await this.lose(error);
      }
      await this.pause();
    }
  }

  take(name, data) {
    if (name === 'snapshot') {
      this.begin(data);
    } else {
      this.model.apply(name, data);
    }
    this.link.heard = Date.now();
    this.model.changed();
  }

  begin(snapshot) {
    const version = this.model.node?.version;
    if (version !== undefined && version !== snapshot.node.version) {
      location.reload();  // the page belongs to the nicmon that served it
    }
    this.failures = 0;
    this.model.snapshot(snapshot);
    this.link.set('live');
    this.loadEvents();
  }

  async lose(error) {
    if (this.link.kind === 'away') {
      return;
    }
    this.failures += 1;
    if (error instanceof Refused && error.full && await this.poll()) {
      return;
    }
    const refused = error instanceof Refused && error.status < 500;
    this.link.set(refused ? 'refused' : 'lost', error?.message);
  }

  /** For the next try: soon at first, then rarely; when hidden not before somebody looks. */
  async pause() {
    const seconds = this.link.kind === 'polling' ? 10 : Math.min(15, 2 ** (this.failures - 1));
    await new Promise((resolve) => {
      this.wake = resolve;
      if (this.link.kind !== 'away') {
        setTimeout(resolve, seconds * 1000 * (0.75 + Math.random() / 4));
      }
    });
  }

  /** In place of the stream. Whether the node answers. */
  async poll() {
    try {
      const [node, {devices}, {ports}, {holds}] = await Promise.all(
          ['node', 'devices', 'ports', 'holds'].map((name) => askJson(`/api/v1/${name}`)));
      this.model.snapshot({node, devices, ports, holds});
      this.link.heard = Date.now();
      this.link.set('polling');
      await this.loadEvents();
      this.model.changed();
      return true;
    } catch {
      return false;
    }
  }

  /** What happened before, and while nobody was listening. One at a time. */
  async loadEvents() {
    if (this.loading) {
      return;
    }
    this.loading = true;
    try {
      const {events} = await askJson(`/api/v1/events?limit=${maxEvents}`);
      this.model.events = newest(events, this.model.news);  // not what another life had shown
      this.model.historyProblem = null;
    } catch (error) {
      this.model.historyProblem = `The history cannot be read: ${error.message}`;
    }
    this.loading = false;
    this.model.changed();
  }
}

/** Puts it together. */
function start() {
  const model = new Model();
  const views = [new Notices(model), new Summary(model), new PortTable(model), new Panels(model)];
  const link = new Link();
  let drawing = null;
  const draw = () => {
    drawing = null;
    if (model.node === null) {
      return;
    }
    setText(byId('node'), model.node.node);
    setText(byId('version'), `nicmon ${model.node.version ?? ''}`);
    views.forEach((view) => view.show());
    setAttribute(byId('main'), 'aria-busy', 'false');
  };
  // At most ten times a second, however much happens.
  model.changed = () => { drawing ??= setTimeout(draw, 100); };
  setInterval(() => {
    tickTimes();
    link.show();
    if (views[2].late) {
      model.changed();
    }
  }, 1000);
  link.show();
  new Connection(model, link).run();
}

start();
