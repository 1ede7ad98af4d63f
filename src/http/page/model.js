// What is known of the node, and how each message changes it.

const maxEvents = 50;

const keyOf = (port) => `${port.device}/${port.port}`;

/** Of both lists the latest, newest first. */
function newest(...lists) {
  const all = new Map(lists.flat().map((event) => [event.seq, event]));
  return [...all.values()].sort((a, b) => b.seq - a.seq).slice(0, maxEvents);
}

/** The node as it was told last. */
class Model {
  node = null;
  devices = new Map();
  ports = new Map();
  holds = new Map();
  events = [];  // newest first
  news = [];    // those told since the last snapshot
  historyProblem = null;
  changed = () => {};

  snapshot({node, devices, ports, holds}) {
    clock.skew = Date.parse(node.time) - Date.now();
    this.node = node;
    this.devices = new Map(devices.map((device) => [device.device, this.dated(device)]));
    this.holds = new Map(holds.map((hold) => [hold.id, hold]));
    this.news = [];
    const before = this.ports;
    this.ports = new Map(ports.map((port) => [keyOf(port), port]));
    for (const [key, port] of this.ports) {
      this.announce(before.get(key), port);
    }
  }

  /** One change of the stream. */
  apply(name, data) {
    if (name === 'node') {
      this.node = data.node;
    } else if (name === 'device' && data.device !== null) {
      this.devices.set(data.device.device, this.dated(data.device));
    } else if (name === 'hold' && data.id !== null) {
      if (data.hold === null) this.holds.delete(data.id);
      else this.holds.set(data.id, data.hold);
    } else if (name === 'port' && data.port !== null) {
      this.announce(this.ports.get(keyOf(data.port)), data.port);
      this.ports.set(keyOf(data.port), data.port);
    }
    if (data.event) {
      this.news = newest(this.news, [data.event]);
      this.events = newest(this.events, [data.event]);
    }
  }

  /** Seconds that go on by themselves, as the time they began. */
  dated(device) {
    const seconds = device.stalled_seconds;
    return {...device, stalled_since: seconds === null ? null : clock.now() - seconds * 1000};
  }

  /** Required ports whose device has not been seen since the node's nicmon began. */
  missing() {
    const there = [...this.ports.values()].filter((port) => port.required).length;
    return Math.max(0, (this.node?.ports_required ?? there) - there);
  }

  announce(before, port) {
    if (before && kindOf(before) !== kindOf(port)) {
      const why = whyOf(port, this.devices.get(port.device))[0]?.text;
      announcer.say(`${portName(port)} ${kinds[kindOf(port)].word}${why ? `: ${why}` : ''}`);
    }
  }
}
