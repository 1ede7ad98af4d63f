// Everything around the ports: how many serve, what is wrong with the node, devices, holds, events.

/** How many serve and what the others are; a strip with one sign for each port, always in one order. */
class Summary {
  constructor(model) {
    this.model = model;
    this.icon = document.querySelector('#count svg');
    this.tallies = new List(byId('tallies'), ({kind}) => {
      const words = el('span');
      const node = el('li', {class: kind}, icon(kind), words);
      return {node, update: ({text}) => setText(words, text)};
    });
    this.strip = new List(byId('strip'), () => {
      const node = icon('idle');
      return {node, update: (port) => setIcon(node, kindOf(port))};
    });
  }

  show() {
    const ports = [...this.model.ports.values()].sort((a, b) => byName(portName(a), portName(b)));
    const counts = {};
    for (const port of ports) {
      const kind = kindOf(port);
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
    const missing = this.model.missing();
    const serving = ports.filter((port) => port.serving).length;
    const total = Math.max(ports.length + missing, this.model.node?.ports_expected ?? 0);
    setText(byId('serving'), serving);
    setText(byId('total'), total);
    const worst = missing > 0 ? 'bad' : Object.keys(kinds).find((kind) => counts[kind] > 0) ?? 'idle';
    setIcon(this.icon, worst);
    setAttribute(byId('summary'), 'class', worst);
    const tallies = Object.keys(kinds).filter((kind) => kind !== 'ok' && counts[kind] > 0)
        .map((kind) => [kind, {kind, text: `${counts[kind]} ${kinds[kind].word}`}]);
    if (missing > 0) {
      tallies.unshift(['missing', {kind: 'bad', text: `${missing} missing`}]);
    }
    this.tallies.show(tallies);
    this.strip.show(ports.map((port) => [keyOf(port), port]));
    this.showOutside(worst, serving, total);
  }

  /** Title and icon: they show where the page itself does not. */
  showOutside(worst, serving, total) {
    const title = `${worst === 'bad' ? '✕ ' : ''}${serving}/${total} ${this.model.node?.node ?? ''} · nicmon`;
    if (document.title !== title) {
      document.title = title;
    }
    const sign = {
      bad: '<path fill="#d1242f" d="M8 0l8 8-8 8-8-8z"/>',
      held: '<rect fill="#bf8700" width="16" height="16" rx="3"/>',
      released: '<rect fill="#bf8700" width="16" height="16" rx="3"/>',
      slow: '<path fill="#bf8700" d="M0 1h16L8 16z"/>',
      ok: '<circle fill="#2da44e" cx="8" cy="8" r="8"/>',
    }[worst] ?? '<circle fill="#8c959f" cx="8" cy="8" r="8"/>';
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">${sign}</svg>`;
    setAttribute(document.querySelector('link[rel=icon]'), 'href', `data:image/svg+xml,${encodeURIComponent(svg)}`);
  }
}

/** What is wrong with the node as a whole: [kind, text]. */
function noticesOf(model) {
  const {node} = model;
  const missing = model.missing();
  const fewer = node.ports_expected !== null && node.ports_up < node.ports_expected;
  return [
    node.simulated && ['note', 'Simulated: these devices and numbers are not real.'],
    !node.discovered && ['settling', 'nicmon still looks for devices.'],
    node.discovery_note && ['bad', node.discovery_note],
    node.discovery_stalled && ['bad', 'Discovery hangs in a driver call: new devices are not noticed.'],
    missing > 0 && ['bad', `${plural(missing, 'required port')} not there: the device is missing.`],
    fewer && ['bad', `${node.ports_up} of ${plural(node.ports_expected, 'expected port')} up.`],
    node.holds_lost && ['bad', 'Holds were lost: the file of holds could not be read whole. Ports that were held may serve.'],
    !node.holds_durable && ['note', 'Holds end with the process: they are not kept on disk.'],
  ].filter(Boolean);
}

class Notices {
  constructor(model) {
    this.model = model;
    this.list = new List(byId('notices'), ([kind]) => {
      const words = el('span');
      const node = el('li', {class: `banner ${kind}`}, icon(kind), words);
      return {node, update: ([, text]) => setText(words, text)};
    });
  }

  show() {
    this.list.show(noticesOf(this.model).map((notice) => [notice.join(' '), notice]));
  }
}

class DeviceCard {
  constructor(model) {
    this.model = model;
    this.icon = icon('bad');
    this.name = el('bdi');
    this.word = el('span', {class: 'word'});
    this.detail = el('bdi', {class: 'why'});
    this.stuck = timeElement('for');
    this.stuckLine = el('span', {class: 'dim', hidden: true}, ' for ', this.stuck);
    this.command = new CommandLine(['Open it again']);
    this.node = el('li', {class: 'card'}, this.icon,
        el('div', {}, el('strong', {}, this.name), ' ', this.word, this.stuckLine, this.detail, this.command.node));
  }

  update(device) {
    const released = device.status === 'released';
    setAttribute(this.node, 'class', `card ${released ? 'released' : 'bad'}`);
    setIcon(this.icon, released ? 'released' : 'bad');
    setText(this.name, device.device);
    setText(this.word, device.status + (device.stalled_call ? ` in ${device.stalled_call}` : ''));
    setText(this.detail, device.detail ?? '');
    this.stuckLine.hidden = !device.stalled_since;
    setTime(this.stuck, device.stalled_since);
    this.command.node.hidden = !released;
    this.command.update(['', reopenCommand(this.model.node, device.device)]);
  }
}

class HoldCard {
  constructor(model) {
    this.model = model;
    this.icon = icon('held');
    this.name = el('bdi');
    this.reason = el('bdi', {class: 'why'});
    this.by = el('bdi');
    this.since = timeElement('ago');
    this.until = timeElement('left');
    this.end = el('span');
    this.state = el('span', {class: 'more', hidden: true});
    this.command = new CommandLine(['Drop it']);
    this.node = el('li', {class: 'card'}, this.icon,
        el('div', {}, el('strong', {}, this.name), ' ', this.end, this.until, this.reason,
            el('span', {class: 'dim'}, 'by ', this.by, ' ', this.since), this.state, this.command.node));
  }

  update(hold) {
    setText(this.name, portName(hold));
    setText(this.reason, hold.reason);
    setText(this.by, orDash(hold.by));
    setTime(this.since, hold.since);
    this.until.hidden = hold.until === null;
    setTime(this.until, hold.until);
    setText(this.end, hold.until === null ? 'no end' : '');
    this.state.hidden = !hold.orphaned && hold.present;
    setText(this.state, hold.orphaned
        ? 'Orphaned: another device is in the place of its own, and is not held.'
        : 'Its device is not there; the hold waits for it.');
    setIcon(this.icon, hold.orphaned ? 'bad' : 'held');
    this.command.node.hidden = !hold.orphaned;
    this.command.update(['', dropHoldCommand(this.model.node, hold)]);
  }
}

class EventLine {
  constructor(event) {
    const time = timeElement('at');
    setTime(time, event.time);
    const change = [event.before, event.after].filter(Boolean).join(' → ');
    const more = [change, event.note, event.by && `by ${event.by}`].filter(Boolean).join(', ');
    this.node = el('li', {}, icon(this.kind(event)), time,
        el('div', {}, el('strong', {}, el('bdi', {}, portName(event) || 'node')),
            el('span', {class: 'dim'}, ` ${event.type}${event.cause ? ` (${event.cause})` : ''} `), el('bdi', {}, more)));
  }

  kind({type, after}) {
    if (type === 'hold') return after ? 'held' : 'ok';
    if (type === 'mismatch' || type === 'speed') return 'slow';
    if (after === 'active' || after === 'open') return 'ok';
    return type === 'link' || ['fatal', 'absent', 'denied', 'stalled'].includes(after) ? 'bad' : 'note';
  }

  update() {}
}

/** Lists below the ports. */
class Panels {
  constructor(model) {
    this.model = model;
    this.devices = new List(document.querySelector('#devices ul'), () => new DeviceCard(model));
    this.holds = new List(document.querySelector('#holds ul'), () => new HoldCard(model));
    this.events = new List(document.querySelector('#events ol'), (event) => new EventLine(event));
  }

  show() {
    const {model} = this;
    const closed = [...model.devices.values()].filter((device) => device.status !== 'open')
        .sort((a, b) => (a.status === 'released') - (b.status === 'released') || byName(a.device, b.device));
    this.devices.show(closed.map((device) => [device.device, device]));
    byId('devices').hidden = closed.length === 0;
    const holds = [...model.holds.values()]
        .sort((a, b) => b.orphaned - a.orphaned || byName(portName(a), portName(b)));
    this.holds.show(holds.map((hold) => [hold.id, hold]));
    document.querySelector('#holds .none').hidden = holds.length > 0;
    this.events.show(model.events.map((event) => [`${event.seq} ${event.time}`, event]));
    const none = document.querySelector('#events .none');
    none.hidden = model.events.length > 0;
    setText(none, model.historyProblem ?? 'Nothing has happened yet.');
  }
}
