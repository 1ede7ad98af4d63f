// Commands to copy: the page itself only reads.

/** `node` is /api/v1/node: where its admin socket is. */
const commandForms = [
  {id: 'ctl', label: 'nicmon ctl', needsSocket: false},
  {id: 'socket', label: 'curl on the node', needsSocket: true},
  {id: 'token', label: 'curl with a token', needsSocket: false},
];

const localHosts = /^(localhost|127\..*|\[::1\])$/;
const chosenForm = {id: localHosts.test(location.hostname) ? 'ctl' : 'token'};

/** `words`: of the command line, ready for a shell. */
function ctl(node, ...words) {
  if (node.admin_socket === null) {
    words.push('--url', quoted(location.origin), '--token-file', 'FILE');
  } else if (node.admin_socket !== '/run/nicmon/admin.sock') {
    words.push('--socket', quoted(node.admin_socket));
  }
  return ['nicmon ctl', ...words].join(' ');
}

function curl(node, form, method, path, fields = []) {
  const words = form === 'socket' ? ['--unix-socket', quoted(node.admin_socket)]
      : ['-H', '"Authorization: Bearer $TOKEN"'];
  words.push(...(fields.length > 0 && method === 'POST' ? [] : ['-X', method]));
  words.push(...fields.map((field) => `-d ${field}`));
  const origin = form === 'socket' ? 'http://localhost' : location.origin;
  return ['curl -sS', ...words, quoted(origin + path)].join(' ');
}

function formsFor(node) {
  return commandForms.filter((form) => !form.needsSocket || node.admin_socket !== null);
}

/** The chosen one, where it can be had. */
const formOf = (node) => formsFor(node).find(({id}) => id === chosenForm.id)?.id ?? 'token';

/** What can be typed about a port: [what it does, the command]. */
function portCommands(node, port) {
  const form = formOf(node);
  const path = `/api/v1/ports/${encodeURIComponent(port.device)}/${port.port}`;
  const held = port.paused.some((pause) => pause.reason === 'admin');
  const released = port.paused.some((pause) => pause.reason === 'released');
  const name = quoted(portName(port));
  const commands = form === 'ctl' ? [
    ['Ask the hardware now', ctl(node, 'requery', name)],
    ['Probe its data path', ctl(node, 'probe', name)],
    ['Take it out of service', ctl(node, 'pause', name, "--reason 'why'", '--ttl 2h', ...(held ? ['--replace'] : []))],
    ['Put it back', ctl(node, 'resume', name)],
  ] : [
    ['Ask the hardware now', curl(node, form, 'POST', `${path}/requery`)],
    ['Probe its data path', curl(node, form, 'POST', `${path}/probe`)],
    ['Take it out of service', curl(node, form, 'POST', `${path}/pause`,
        ["reason='why'", 'ttl=2h', 'by="$USER"', ...(held ? ['replace=true'] : [])])],
    ['Put it back', curl(node, form, 'POST', `${path}/resume`)],
  ];
  if (released) {
    commands.push(['Open the device again', reopenCommand(node, port.device)]);
  }
  return commands;
}

function reopenCommand(node, device) {
  const form = formOf(node);
  return form === 'ctl' ? ctl(node, 'reopen', quoted(device))
      : curl(node, form, 'POST', `/api/v1/devices/${encodeURIComponent(device)}/reopen`);
}

function dropHoldCommand(node, hold) {
  const form = formOf(node) === 'token' || node.admin_socket === null ? 'token' : 'socket';
  return curl(node, form, 'DELETE', `/api/v1/holds/${encodeURIComponent(hold.id)}`);
}

/** A command with its button. */
class CommandLine {
  constructor([what]) {
    this.code = el('code', {tabindex: '0'});
    this.button = el('button', {type: 'button', class: 'copy', 'aria-label': `Copy: ${what}`, click: () => this.copy()}, 'Copy');
    this.node = el('div', {class: 'command'}, el('span', {class: 'dim'}, what), this.code, this.button);
    this.code.setAttribute('aria-label', what);
  }

  update([, command]) {
    setText(this.code, command);
  }

  async copy() {
    const done = await copy(this.code.textContent);
    if (!done) {
      getSelection().selectAllChildren(this.code);
    }
    setText(this.button, done ? 'Copied' : 'Press Ctrl+C');
    announcer.say(done ? 'Copied' : 'The command is selected, press Control C');
    clearTimeout(this.timer);
    this.timer = setTimeout(() => setText(this.button, 'Copy'), 2500);
  }
}
