// A simulated node to look at: nicmon as a process, driven over its admin socket.
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, rmSync} from 'node:fs';
import http from 'node:http';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createInterface} from 'node:readline';

export async function until(condition, what, seconds = 30) {
  const end = Date.now() + seconds * 1000;
  while (!await condition()) {
    if (Date.now() > end) {
      throw new Error(`never came true: ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export class Node {
  /** `simulate`: of --simulate. */
  static async start(simulate, {port = 0, args = []} = {}) {
    const node = new Node();
    node.directory = mkdtempSync(join(tmpdir(), 'nicmon-page-'));
    node.socket = join(node.directory, 'admin.sock');
    node.args = [`--simulate=${simulate}`, '--simulate-force', '--admin-socket', node.socket,
      '--state-dir', node.directory, '--node-name', 'gpu-17', ...args];
    try {
      await node.run(port);
    } catch (error) {
      await node.remove();
      throw error;
    }
    return node;
  }

  async run(port) {
    this.process = spawn(process.env.NICMON, [...this.args, '--listen', `127.0.0.1:${port}`, '--log-format', 'json'],
        {stdio: ['ignore', 'pipe', 'pipe']});
    this.exited = once(this.process, 'exit');
    this.port = await new Promise((resolve, reject) => {
      this.exited.then(() => reject(new Error('nicmon ended')));
      for (const stream of [this.process.stdout, this.process.stderr]) {
        createInterface({input: stream}).on('line', (line) => {
          const address = /127\.0\.0\.1:(\d+)/.exec(line);
          if (address && Number(address[1]) !== 0) {
            resolve(Number(address[1]));
          }
        });
      }
    });
    await until(async () => {
      const {devices = []} = await this.get('devices').catch(() => ({}));
      return devices.length > 0 && devices.every(({status, ports}) => status === 'open' && ports.length > 0);
    }, 'all devices open');
  }

  get url() {
    return `http://127.0.0.1:${this.port}/`;
  }

  /** One request over the admin socket; `body` makes it a POST. */
  ask(path, body, method = body === undefined ? 'GET' : 'POST') {
    return new Promise((resolve, reject) => {
      const request = http.request({socketPath: this.socket, path: `/api/v1/${path}`, method}, async (reply) => {
        let text = '';
        for await (const piece of reply) {
          text += piece;
        }
        if (reply.statusCode >= 400) {
          reject(new Error(`${path}: ${text}`));
        } else {
          resolve(JSON.parse(text));
        }
      });
      request.on('error', reject);
      request.end(body);
    });
  }

  get(path) {
    return this.ask(path);
  }

  simulate(...commands) {
    return this.ask('simulator', JSON.stringify(commands));
  }

  down(device, port = 1) {
    return this.simulate({device, port, set: {state: 'down', physical_state: 'polling'}, event: 'PORT_ERR'});
  }

  up(device, port = 1) {
    return this.simulate({device, port, set: {state: 'active', physical_state: 'link_up'}, event: 'PORT_ACTIVE'});
  }

  pause(device, fields) {
    return this.ask(`ports/${encodeURIComponent(device)}/1/pause`, JSON.stringify(fields));
  }

  async stop() {
    this.process.kill();
    await this.exited;
  }

  async remove() {
    await this.stop();
    rmSync(this.directory, {recursive: true});
  }
}

/** What an on-call engineer may find: a bit of everything. */
export async function breakThings(node) {
  await node.simulate(
      {device: 'mlx5_7', port: 1, set: {effective_speed_gbps: 200}},
      {device: 'mlx5_12', port: 1, set: {state: 'init'}, event: 'PORT_ERR'},
      {device: 'mlx5_9', hang: {verb: 'query_port', seconds: 300}},
      {device: 'mlx5_14', unplug: true});
  await node.down('mlx5_3');
  await node.pause('mlx5_5', {reason: 'bad cable, waits for the vendor', ttl: '2h', by: 'ann'});
  await node.pause('mlx5_1', {reason: 'switch maintenance', by: 'joe'});
  await node.ask('devices/mlx5_10/release', JSON.stringify({reason: 'firmware 28.43', ttl: '30m', by: 'ann'}));
  await until(async () => (await node.get('devices/mlx5_9')).status === 'stalled', 'a stalled device');
}
