// The page follows the node.
import assert from 'node:assert/strict';
import http from 'node:http';
import {test} from 'node:test';
import {line, open, openLive} from './browser.mjs';
import {browser, node} from './fixture.mjs';
import {Node, until} from './node.mjs';

const countText = async (page) => (await page.locator('#count').textContent()).trim();
const first = (page) => page.locator('tbody.port .open bdi').first().textContent();

test('a flap and a lasting loss are shown as they happen', async () => {
  const page = await openLive(browser, node);
  assert.equal(await countText(page), '16 of 16 ports serving');
  assert.match(await page.title(), /^16\/16 gpu-17 /);
  await node.down('mlx5_3');
  await line(page, 'mlx5_3/1').locator('.word', {hasText: 'not serving'}).waitFor();
  assert.match(await line(page, 'mlx5_3/1').locator('.serving').innerText(), /link is down/);
  assert.match(await line(page, 'mlx5_3/1').locator('.state').innerText(), /down · polling/);
  await until(async () => await first(page) === 'mlx5_3/1', 'the problem is first');
  assert.equal(await countText(page), '15 of 16 ports serving');
  await page.locator('#said', {hasText: 'mlx5_3/1 not serving: link is down'}).waitFor({state: 'attached'});
  assert.match(await page.locator('#events li').first().innerText(), /mlx5_3\/1.*active → down/s);
  await node.up('mlx5_3');
  await line(page, 'mlx5_3/1').locator('.word', {hasText: /^serving$/}).waitFor();
  assert.equal(await line(page, 'mlx5_3/1').locator('.flaps').innerText(), '1');
  assert.match(await line(page, 'mlx5_3/1').locator('.changed time').getAttribute('title'), /\d{4}-\d\d-\d\dT.*Z/);
  await page.done();
});

test('a hold appears with who, why and how long, and ends', async () => {
  const page = await openLive(browser, node);
  const {hold} = await node.pause('mlx5_5', {reason: 'bad cable', ttl: '90m', by: 'ann'});
  const port = line(page, 'mlx5_5/1');
  await port.locator('.word', {hasText: 'held'}).waitFor();
  assert.match(await port.locator('.serving').innerText(), /held bad cable, by ann, 1 h (29|30) min left/);
  const card = page.locator('#holds li');
  assert.match(await card.innerText(), /mlx5_5\/1 .*left\s+bad cable\s+by ann/s);
  assert.equal(await card.locator('time[data-kind=left]').getAttribute('datetime'), hold.until);
  await node.ask('ports/mlx5_5/1/resume', '');
  await card.waitFor({state: 'detached'});
  await port.locator('.word', {hasText: /^serving$/}).waitFor();
  await node.pause('mlx5_5', {reason: 'short', ttl: '2s', by: 'ann'});
  await card.waitFor();
  await card.waitFor({state: 'detached'});  // by itself
  await page.done();
});

test('devices that are not open say why', async () => {
  const page = await openLive(browser, node);
  assert.ok(await page.locator('#devices').isHidden());
  await node.ask('devices/mlx5_8/release', JSON.stringify({reason: 'firmware', by: 'ann'}));
  await node.simulate({device: 'mlx5_9', unplug: true});
  await page.locator('#devices li', {hasText: 'mlx5_9 absent'}).waitFor();
  assert.match(await page.locator('#devices li', {hasText: 'mlx5_8'}).innerText(), /released.*nicmon ctl reopen mlx5_8/s);
  await line(page, 'mlx5_8/1').locator('.word', {hasText: 'released'}).waitFor();
  await node.ask('devices/mlx5_8/reopen', '');
  await node.simulate({device: 'mlx5_9', plug: true});
  await page.locator('#devices').waitFor({state: 'hidden'});
  await page.done();
});

test('what is open, has the focus or is selected stays so', async () => {
  const page = await openLive(browser, node);
  const port = line(page, 'mlx5_4/1');
  const button = port.getByRole('button', {name: 'mlx5_4/1', exact: true});
  await button.press('Enter');
  await port.locator('.detail').waitFor();
  await page.evaluate(() => { window.kept = document.activeElement; });
  await node.down('mlx5_11');
  await node.down('mlx5_4');
  await until(async () => await first(page) === 'mlx5_4/1', 'the port is among the first');
  assert.equal(await button.getAttribute('aria-expanded'), 'true');
  assert.ok(await page.evaluate(() => document.activeElement === window.kept), 'the focus has moved');
  await node.up('mlx5_11');
  await node.up('mlx5_4');
  await port.locator('.word', {hasText: /^serving$/}).waitFor();
  assert.ok(await port.locator('.detail').isVisible());
  assert.ok(await page.evaluate(() => document.activeElement === window.kept), 'the focus has moved back');

  await page.evaluate(() => getSelection().selectAllChildren(document.querySelector('.detail code')));
  const selected = await page.evaluate(() => String(getSelection()));
  assert.match(selected, /^nicmon ctl requery mlx5_4\/1/);
  await node.down('mlx5_6');
  await line(page, 'mlx5_6/1').locator('.word', {hasText: 'not serving'}).waitFor();
  assert.equal(await page.evaluate(() => String(getSelection())), selected);
  assert.notEqual(await first(page), 'mlx5_6/1', 'rows move under a selection');
  await page.evaluate(() => getSelection().removeAllRanges());
  await until(async () => await first(page) === 'mlx5_6/1', 'the problem is first when nothing is selected');
  await node.up('mlx5_6');
  await page.done();
});

test('what happens often does not pile up', async () => {
  const page = await openLive(browser, node);
  await until(() => page.locator('#events li').count(), 'events');
  for (let flap = 0; flap < 150; ++flap) {
    await node.down('mlx5_2');
    await node.up('mlx5_2');
  }
  await until(async () => {
    const {events} = await node.get('events?limit=1');
    return await page.locator('#events li time').first().getAttribute('datetime') === events[0].time;
  }, 'the last event');
  assert.equal(await page.locator('#events li').count(), 50);
  const size = await page.evaluate(() => document.querySelectorAll('*').length);
  assert.ok(size < 2000, `${size} elements`);
  await page.done();
});

test('a restart: lost, greyed, and live again with what is true then', async () => {
  const page = await openLive(browser, node, {lossy: true});
  await node.pause('mlx5_1', {reason: 'outlives it', by: 'ann'});
  await page.locator('#holds li', {hasText: 'outlives it'}).waitFor();
  const {port} = node;
  await node.stop();
  await page.locator('#link.lost', {hasText: /reconnecting since \d\d:\d\d:\d\d/}).waitFor();
  await page.locator('#old', {hasText: 'This is how it was at'}).waitFor();
  assert.match(await page.evaluate(() => getComputedStyle(document.querySelector('#ports')).filter), /grayscale/);
  await node.run(port);
  await node.down('mlx5_2');
  await page.locator('#link.live').waitFor();
  assert.ok(await page.locator('#old').isHidden());
  await line(page, 'mlx5_2/1').locator('.word', {hasText: 'not serving'}).waitFor();
  await page.locator('#holds li', {hasText: 'outlives it'}).waitFor();
  await node.up('mlx5_2');
  await node.ask('ports/mlx5_1/1/resume', '');
  await page.done();
});

/** Takes what room the node's event stream has; the open requests. */
async function fillStream(full) {
  const agent = new http.Agent({maxSockets: 100});
  const streams = [];
  await until(async () => {
    const status = await new Promise((resolve, reject) => {
      const request = http.get(`${full.url}api/v1/stream`, {agent}, (reply) => {
        reply.resume();
        reply.on('error', () => {});
        streams.push(request);
        resolve(reply.statusCode);
      });
      request.on('error', reject);
    });
    return status === 503;
  }, 'a full stream');
  return streams;
}

test('a stream that is full: asked slowly, says so, and live when there is room', async () => {
  const full = await Node.start('devices=16,speed=400');  // nobody else's pages are in the way
  try {
    const streams = await fillStream(full);
    const page = await open(browser, full, {lossy: true});
    await page.locator('#link.polling', {hasText: 'as many watchers as may be'}).waitFor();
    await until(async () => await countText(page) === '16 of 16 ports serving', 'all ports');
    await full.down('mlx5_2');
    await line(page, 'mlx5_2/1').locator('.word', {hasText: 'not serving'}).waitFor();
    await full.up('mlx5_2');
    streams.forEach((request) => request.destroy());
    await page.locator('#link.live').waitFor();
    await line(page, 'mlx5_2/1').locator('.word', {hasText: /^serving$/}).waitFor();
    await page.done();
  } finally {
    await full.remove();
  }
});
