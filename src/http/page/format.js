// What is shown, as words. Nothing here touches the page.

const clock = {skew: 0, now: () => Date.now() + clock.skew};  // the node's, which may differ from ours

const two = (number) => String(number).padStart(2, '0');

/** "1 h 58 min": the two largest units. */
function span(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  const [minutes, hours, days] = [60, 3600, 86400].map((unit) => Math.floor(seconds / unit));
  if (seconds < 60) return `${seconds} s`;
  if (minutes < 10) return `${minutes} min ${two(seconds % 60)} s`;
  if (minutes < 60) return `${minutes} min`;
  if (hours < 24) return `${hours} h ${two(minutes % 60)} min`;
  return `${days} d ${two(hours % 24)} h`;
}

/** One unit: what has been long ago is not counted in seconds. */
function ago(time) {
  const seconds = (clock.now() - time) / 1000;
  if (seconds < 1) return 'now';
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86400)} d ago`;
}

function left(time) {
  return time > clock.now() ? `${span(time - clock.now())} left` : 'ends now';
}

/** The time of day, with the day where that is not today. */
function timeOfDay(time) {
  const date = new Date(time);
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} `;
  return (date.toDateString() === new Date(clock.now()).toDateString() ? '' : day) +
      [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
}

const timeWords = {
  ago,
  left,
  at: timeOfDay,
  for: (time) => span(clock.now() - time),
};

/** A time that goes on by itself (tickTimes); hovering shows it in full. */
function timeElement(kind) {
  return el('time', {'data-kind': kind});
}

/** `time`: RFC 3339, or milliseconds; null shows a dash. */
function setTime(node, time) {
  if (time === null || time === undefined) {
    setText(node, '–');
    node.removeAttribute('datetime');
    node.removeAttribute('title');
    return;
  }
  const date = new Date(time);
  setAttribute(node, 'datetime', date.toISOString());
  setAttribute(node, 'title', `${date.toLocaleString()} (${date.toISOString()})`);
  setText(node, timeWords[node.dataset.kind](date.getTime()));
}

function tickTimes() {
  for (const node of document.querySelectorAll('time[datetime]')) {
    if (!selectsIn(node)) {
      setText(node, timeWords[node.dataset.kind](Date.parse(node.dateTime)));
    }
  }
}

const orDash = (value) => (value === null || value === undefined || value === '' ? '–' : value);
const speedText = (gbps) => (gbps === null ? '–' : String(Math.round(gbps * 10) / 10));
const rateText = (gbps) => (gbps === null ? '–' : gbps.toFixed(1));
const plural = (count, word) => `${count} ${word}${count === 1 ? '' : 's'}`;
const portName = (item) => (item.port ? `${item.device}/${item.port}` : item.device);
const byName = new Intl.Collator('en', {numeric: true}).compare;

const stateWords = {
  nop: 'has no state',
  down: 'link is down',
  init: 'waits for the subnet manager',
  armed: 'armed, waits for the subnet manager',
  active: 'link is back, not recovered yet',
  active_defer: 'link is degraded',
};

/** Below what is expected of it, or what it once had. */
function isSlow(port) {
  const speed = port.effective_speed_gbps;
  const most = Math.max(port.expected_speed_gbps ?? 0, port.baseline_speed_gbps ?? 0);
  return port.up && speed !== null && speed < most;
}

/** How a port is: the order is that of urgency. */
const kinds = {
  bad: {rank: 0, word: 'not serving'},
  settling: {rank: 1, word: 'settling'},
  slow: {rank: 2, word: 'slow'},
  held: {rank: 3, word: 'held'},
  released: {rank: 4, word: 'released'},
  idle: {rank: 5, word: 'never up'},
  ok: {rank: 6, word: 'serving'},
};

function kindOf(port) {
  const reasons = port.paused.map((pause) => pause.reason);
  if (port.serving) return isSlow(port) ? 'slow' : 'ok';
  if (reasons.includes('admin')) return 'held';
  if (reasons.includes('released')) return 'released';
  if (!port.stale && reasons.length === 1 && reasons[0] === 'settling') return 'settling';
  const quiet = !port.required && !port.stale && reasons.every((reason) => reason === 'link');
  return quiet ? 'idle' : 'bad';
}

function pauseText(pause, port, device) {
  const note = [pause.note, pause.by && `by ${pause.by}`].filter(Boolean).join(', ');
  switch (pause.reason) {
    case 'link': return stateWords[port.state] ?? 'state is unknown';
    case 'admin': return note;  // that it is held says its kind
    case 'released': return kindOf(port) === 'released' ? note : `released: ${note}`;
    case 'settling': return 'has just recovered';
    case 'fatal': return `device is ${device?.status === 'fatal' ? 'dead' : device?.status ?? 'gone'}`;
    default: return pause.reason + (note && `: ${note}`);
  }
}

/** Why a port does not serve, or is slow: [{text, until}], the gravest first; until may be null. */
function whyOf(port, device) {
  const order = ['admin', 'released', 'fatal', 'settling', 'link'];
  const rank = (pause) => order.indexOf(pause.reason);
  const why = [...port.paused].sort((a, b) => rank(a) - rank(b))
      .map((pause) => ({text: pauseText(pause, port, device), until: pause.until}));
  if (why.length === 0 && !port.up) {
    why.push({text: stateWords[port.state] ?? 'state is unknown', until: null});
  }
  if (port.stale) {
    const stuck = device?.stalled_call ? `stuck in ${device.stalled_call}` : null;
    why.push({text: stuck ?? 'no fresh answer from the hardware', until: null});
  }
  if (isSlow(port)) {
    const {effective_speed_gbps: speed, expected_speed_gbps: expected, baseline_speed_gbps: baseline} = port;
    const most = Math.max(expected ?? 0, baseline ?? 0);
    why.push({text: `${speedText(speed)} of ${speedText(most)} Gb/s`, until: null});
  }
  return why;
}

function netdevText(port) {
  const bond = port.bond;
  return orDash(port.netdev) + (bond ? ` (${bond.members_up ?? '?'} of ${bond.members} up)` : '');
}

function pcieText(pcie) {
  if (!pcie) return null;
  const link = (speed, width) => [speed && `${speed} GT/s`, width && `x${width}`].filter(Boolean).join(' ');
  return link(pcie.speed_gtps, pcie.width) +
      (pcie.below_maximum ? ` of ${link(pcie.max_speed_gtps, pcie.max_width)}` : '');
}

/** One word of a shell, whatever is in it. */
function quoted(text) {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (/^[ -~]*$/.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`;
  const bytes = [...new TextEncoder().encode(text)];
  const plain = (byte) => byte >= 32 && byte < 127 && byte !== 39 && byte !== 92;
  return `$'${bytes.map((byte) => (plain(byte) ? String.fromCharCode(byte)
      : `\\x${byte.toString(16).padStart(2, '0')}`)).join('')}'`;
}
