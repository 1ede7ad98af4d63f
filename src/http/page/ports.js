// The ports: a table of them, and what is known of one.

const portFacts = [
  ['PCI address', (port) => port.pci_address],
  ['PCIe', (port, device) => pcieText(device?.pcie)],
  ['NUMA node', (port, device) => device?.numa_node],
  ['Driver', (port, device) => device?.driver],
  ['Firmware', (port, device) => device?.firmware_version],
  ['Board', (port, device) => device?.board_id],
  ['Node GUID', (port, device) => device?.node_guid],
  ['Link layer', (port) => port.link_layer],
  ['Lanes', (port) => port.lanes && `${port.lanes} × ${port.lane_speed ?? '?'}`],
  ['Nominal speed', (port) => port.nominal_speed_gbps && `${speedText(port.nominal_speed_gbps)} Gb/s`],
  ['Speed told by', (port) => port.speed_source],
  ['MTU', (port) => port.mtu],
  ['LID', (port) => port.lid],
  ['Carrier changes', (port) => port.carrier_changes],
  ['Required', (port) => (port.required ? 'yes' : 'no, it has never been up')],
  ['GID', (port) => port.gid && (port.gid.gid ? `${port.gid.index}: ${port.gid.gid}, ${port.gid.type ?? '?'}` : port.gid.note)],
];

/** Why a port does not serve; times in it go on. */
class WhyText {
  constructor() {
    this.node = el('span', {class: 'why'});
    this.parts = [];
  }

  update(why) {
    while (this.parts.length > why.length) {
      this.parts.pop().node.remove();
    }
    why.forEach(({text, until}, index) => {
      this.parts[index] ??= this.makePart();
      const {node, words, time} = this.parts[index];
      setText(words, (index > 0 ? ' · ' : '') + (until === null ? text : `${text}, `));
      time.hidden = until === null;
      setTime(time, until);
      node.hidden = false;
    });
  }

  makePart() {
    const words = el('bdi');
    const time = timeElement('left');
    const node = el('span', {}, words, time);
    this.node.append(node);
    return {node, words, time};
  }
}

/** What shows when a port is opened: facts, commands, links. */
class PortDetail {
  constructor(model, port) {
    this.model = model;
    this.facts = portFacts.map(([label, value]) => ({value, dd: el('dd'), label}));
    const list = el('dl', {}, ...this.facts.map(({label, dd}) => el('div', {}, el('dt', {}, label), dd)));
    const path = `/api/v1/ports/${encodeURIComponent(port.device)}/${port.port}`;
    const query = `device=${encodeURIComponent(port.device)}&port=${port.port}`;
    this.lines = el('div', {class: 'commands'});
    this.commands = new List(this.lines, (command) => new CommandLine(command));
    this.note = el('p', {class: 'note', hidden: true});
    this.forms = el('fieldset', {class: 'forms'}, el('legend', {class: 'unseen'}, 'Commands as'),
        ...formsFor(model.node).map((form) => this.formChoice(form, port)));
    this.node = el('div', {class: 'detail'}, this.note, this.forms, this.lines, list,
        el('p', {class: 'dim links'},
            el('a', {href: `/api/v1/events?format=text&${query}`}, 'history of this port'), ' ',
            el('a', {href: path}, 'JSON')));
  }

  formChoice({id, label}, port) {
    const input = el('input', {type: 'radio', name: `form ${portName(port)}`, value: id,
      change: () => { chosenForm.id = id; this.model.changed(); }});
    return el('label', {}, input, label);
  }

  update(port) {
    const device = this.model.devices.get(port.device);
    for (const {value, dd} of this.facts) {
      setText(dd, orDash(value(port, device)));
    }
    const note = device?.pcie?.note ?? port.gid?.note ?? null;
    this.note.hidden = note === null;
    setText(this.note, note ?? '');
    for (const input of this.forms.querySelectorAll('input')) {
      input.checked = input.value === chosenForm.id;
    }
    this.commands.show(portCommands(this.model.node, port).map((command) => [command[0], command]));
  }
}

/** A port in the table: a line, and below it what is known when it is open. */
class PortRow {
  constructor(model, port) {
    this.model = model;
    this.detail = null;
    this.makeCells(port);
    this.line = el('tr', {role: 'row', class: 'line'},
        el('th', {role: 'rowheader', scope: 'row'}, this.button), ...Object.values(this.cells));
    this.node = el('tbody', {role: 'rowgroup'}, this.line);
  }

  makeCells(port) {
    this.icon = icon('idle');
    this.button = el('button', {type: 'button', class: 'open', 'aria-expanded': 'false', click: () => this.toggle()},
        icon('open'), this.icon, el('bdi', {}, portName(port)));
    const cell = (label, ...children) => el('td', {role: 'cell', 'data-label': label}, ...children);
    const number = (label, ...children) => el('td', {role: 'cell', class: 'number', 'data-label': label}, ...children);
    this.word = el('strong', {class: 'word'});
    this.why = new WhyText();
    this.tag = el('span', {class: 'tag', hidden: true}, 'PCIe below its maximum');
    this.changed = timeElement('ago');
    this.cells = {
      serving: cell('', this.word, ' ', this.why.node, this.tag),
      state: cell(''),
      netdev: cell('netdev', el('bdi')),
      speed: number('Gb/s'),
      expected: number('expected'),
      baseline: number('baseline'),
      rx: number('rx'),
      tx: number('tx'),
      flaps: number('flaps'),
      changed: number('changed', this.changed),
    };
    for (const [name, node] of Object.entries(this.cells)) {
      node.classList.add(name);
    }
  }

  toggle() {
    const open = this.detail === null;
    this.button.setAttribute('aria-expanded', String(open));
    if (!open) {
      this.detailLine.remove();
      this.detail = null;
      return;
    }
    this.detail = new PortDetail(this.model, this.port);
    this.detailLine = el('tr', {role: 'row', class: 'more'}, el('td', {role: 'cell', colspan: '11'}, this.detail.node));
    this.node.append(this.detailLine);
    this.detail.update(this.port);
  }

  update(port) {
    this.port = port;
    const device = this.model.devices.get(port.device);
    const kind = kindOf(port);
    setAttribute(this.node, 'class', `port ${kind}`);
    setIcon(this.icon, kind);
    setText(this.word, kinds[kind].word);
    this.why.update(whyOf(port, device));
    this.tag.hidden = !device?.pcie?.below_maximum;
    const {cells} = this;
    const states = [port.state, port.physical_state].filter(Boolean).join(' · ');
    setText(cells.state, orDash(states) + (port.stale ? ' (stale)' : ''));
    setText(cells.netdev.firstChild, netdevText(port));
    setText(cells.speed, speedText(port.effective_speed_gbps));
    setText(cells.expected, speedText(port.expected_speed_gbps));
    setText(cells.baseline, speedText(port.baseline_speed_gbps));
    setText(cells.flaps, port.flaps);
    cells.flaps.classList.toggle('zero', port.flaps === 0);
    for (const way of ['rx', 'tx']) {
      const rate = port[`${way}_gbps`];
      setText(cells[way], rateText(rate));
      cells[way].classList.toggle('zero', !rate);
      const part = port.effective_speed_gbps ? Math.min(1, (rate ?? 0) / port.effective_speed_gbps) : 0;
      cells[way].style.setProperty('--part', part.toFixed(3));
    }
    setTime(this.changed, port.last_change);
    this.detail?.update(port);
  }
}

/** The table. Rows are not moved under a pointer that moves over them, or while text is selected. */
class PortTable {
  constructor(model) {
    this.model = model;
    this.table = document.querySelector('#ports table');
    this.rows = new Map();
    this.pointed = 0;
    this.filter = byId('filter');
    for (const event of ['pointermove', 'pointerdown', 'wheel']) {
      this.table.addEventListener(event, () => { this.pointed = Date.now(); }, {passive: true});
    }
    this.filter.value = new URLSearchParams(location.hash.slice(1)).get('q') ?? '';
    this.filter.addEventListener('input', () => this.remember());
  }

  /** In the address, so that it is there after a reload and can be passed on. */
  remember() {
    const words = this.filter.value.trim();
    history.replaceState(null, '', words ? `#q=${encodeURIComponent(words)}` : location.pathname);
    this.pointed = 0;
    this.model.changed();
  }

  matches(port) {
    const text = [portName(port), netdevText(port), port.pci_address, port.state, port.physical_state,
      kinds[kindOf(port)].word, ...port.paused.map(({note, by}) => `${note} ${by}`)].join(' ').toLowerCase();
    return this.filter.value.toLowerCase().split(/\s+/).every((word) => text.includes(word));
  }

  show() {
    const ports = [...this.model.ports];
    for (const key of this.rows.keys()) {
      if (!this.model.ports.has(key)) {
        this.rows.delete(key);
      }
    }
    for (const [key, port] of ports) {
      if (!this.rows.has(key)) {
        this.rows.set(key, new PortRow(this.model, port));
      }
      this.rows.get(key).update(port);
    }
    this.place(ports.map(([, port]) => port));
    byId('filter-box').hidden = ports.length <= 8 && this.filter.value === '';
    const found = ports.filter(([, port]) => this.matches(port)).length;
    setText(byId('shown'), found < ports.length ? `${found} of ${ports.length}` : '');
    byId('no-ports').hidden = found > 0;
    setText(byId('no-ports'), ports.length === 0 ? 'There is no port.' : 'No port matches the filter.');
    this.table.hidden = found === 0;
  }

  place(ports) {
    const rank = (port) => kinds[kindOf(port)].rank;
    const sorted = ports.filter((port) => this.matches(port))
        .sort((a, b) => rank(a) - rank(b) || byName(portName(a), portName(b)));
    const wanted = sorted.map((port) => this.rows.get(keyOf(port)).node);
    const placed = [...this.table.tBodies];
    const same = wanted.length === placed.length && wanted.every((node, index) => node === placed[index]);
    this.late = !same && (Date.now() - this.pointed < 3000 || selectsIn(this.table)) && placed.length > 0;
    if (same || (this.late && wanted.length === placed.length)) {
      return;
    }
    const [head] = this.table.tHead ? [this.table.tHead] : [];
    arrange(this.table, [head, ...wanted]);
  }
}
