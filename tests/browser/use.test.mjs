// The page in the hands of people: on a phone, with a keyboard, with names that mean harm.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {test} from 'node:test';
import {assertAccessible, assertNoSideways, line, open, openLive} from './browser.mjs';
import {browser, node} from './fixture.mjs';
import {breakThings, Node, until} from './node.mjs';

const sizes = [[390, 844], [1280, 800], [1920, 1080]];

/** Looked at by people, so kept; the checks that need no eyes are made on the way. */
async function show(name, colorScheme, [width, height]) {
  const page = await openLive(browser, node, {viewport: {width, height}, colorScheme});
  await page.screenshot({path: `${name}-${width}-${colorScheme}.png`});
  await assertNoSideways(page);
  await page.locator('button.open').first().click();
  await page.locator('.detail').waitFor();
  await assertNoSideways(page);
  if (width < 1920) {
    await assertAccessible(page);
  }
  await page.screenshot({path: `${name}-open-${width}-${colorScheme}.png`});
  await page.done();
}

async function showAllSizes(name) {
  for (const size of sizes) {
    await show(name, 'light', size);
  }
}

test('healthy, on a phone, a laptop and a wall', () => showAllSizes('healthy'));

test('with a bit of everything broken, by day and by night', async () => {
  await breakThings(node);
  await showAllSizes('faults');
  await show('faults', 'dark', sizes[0]);
  await show('faults', 'dark', sizes[2]);
  const page = await openLive(browser, node);
  const order = await page.locator('tbody.port .word').allInnerTexts();
  const ranks = order.map((word) => ['not serving', 'slow', 'held', 'released', 'serving'].indexOf(word));
  assert.deepEqual(ranks, [...ranks].sort((a, b) => a - b), 'problems are first');
  assert.match(await line(page, 'mlx5_7/1').innerText(), /200 of 400 Gb\/s/);
  assert.match(await line(page, 'mlx5_9/1').innerText(), /stuck in query_port/);
  // Without colour: each state has its own sign.
  const signs = await page.locator('tbody.port .open > svg:nth-child(2) use')
      .evaluateAll((uses) => uses.map((use) => use.getAttribute('href')));
  assert.equal(new Set(signs).size, new Set(order).size);
  await page.done();
});

test('with the keyboard alone', async () => {
  const page = await openLive(browser, node);
  const reached = [];
  for (let step = 0; step < 12; ++step) {
    await page.keyboard.press('Tab');
    const {name, outline} = await page.evaluate(() => {
      const element = document.activeElement;
      return {name: element.getAttribute('aria-label') ?? element.id + element.textContent.trim(),
        outline: getComputedStyle(element).outlineStyle};
    });
    assert.notEqual(outline, 'none', `no visible focus on ${name}`);
    reached.push(name);
  }
  assert.equal(reached[0], 'Skip to the ports');
  assert.ok(reached.includes('filter'), reached);
  assert.ok(reached.includes('mlx5_3/1'), reached);
  const button = page.getByRole('button', {name: 'mlx5_3/1', exact: true});
  await button.focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.value), 'ctl');
  await page.keyboard.press('ArrowRight');
  await page.locator('.detail code', {hasText: 'curl -sS --unix-socket'}).first().waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')),
      'Copy: Ask the hardware now');
  await button.focus();
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('.detail').count(), 0);
  await page.done();
});

test('the filter finds ports, and is in the address', async () => {
  const page = await openLive(browser, node);
  await page.getByLabel('Filter').fill('mlx5_1 held');
  await until(async () => await page.locator('tbody.port').count() === 1, 'one port');
  await page.locator('#shown', {hasText: '1 of 16'}).waitFor();
  const again = await openLive(browser, node, {hash: new URL(page.url()).hash});
  assert.equal(await again.locator('tbody.port').count(), 1);
  await again.getByLabel('Filter').fill('no such port');
  await again.getByText('No port matches the filter.').waitFor();
  await again.done();
  await page.done();
});

/** Copies every command of a form with its button and runs it in a shell, as a person would. */
async function runCommands(page, name, form) {
  const port = line(page, name);
  await port.getByLabel(form, {exact: true}).check();
  const results = [];
  for (const what of ['Ask the hardware now', 'Probe its data path', 'Take it out of service', 'Put it back']) {
    await port.getByRole('button', {name: `Copy: ${what}`}).click();
    const command = await page.evaluate(() => navigator.clipboard.readText());
    const program = command.replace(/^nicmon /, `${process.env.NICMON} `);
    results.push(execFileSync('bash', ['-c', program], {env: {...process.env, USER: 'ann'}, encoding: 'utf8'}));
    if (what.startsWith('Take')) {
      await port.locator('.word', {hasText: 'held'}).waitFor();
    }
  }
  await port.locator('.word', {hasText: /^serving$/}).waitFor();
  return results;
}

const hostileNames = [`<img src=x onerror=alert(1)>`, `'; touch pwned; #$(id)\`id\``, `a"b&c \\ é\u202Ex`];

test('names and notes are text, and their commands do what they say', async () => {
  const page = await openLive(browser, node, {permissions: ['clipboard-read', 'clipboard-write']});
  const note = '</script><script>alert(2)</script><img src=x onerror=alert(3)>';
  let was = 'mlx5_0';
  for (const name of hostileNames) {
    await node.simulate({device: was, rename: name});
    was = name;
    const port = line(page, `${name}/1`);
    await port.waitFor();
    await port.locator('button.open').click();
    for (const form of ['nicmon ctl', 'curl on the node']) {
      const [asked, probed] = await runCommands(page, `${name}/1`, form);
      assert.match(asked, /serv/);
      assert.match(probed, /\bok\b/);
    }
    await node.pause(name, {reason: note, by: note});
    await page.locator('#holds li').filter({hasText: note}).waitFor();
    await assertNoSideways(page);
    await node.ask(`ports/${encodeURIComponent(name)}/1/resume`, '');
  }
  assert.equal(await page.locator('main img, main script').count(), 0);
  await node.simulate({device: was, rename: 'mlx5_0'});
  await line(page, 'mlx5_0/1').waitFor();

  await node.pause('mlx5_0', {reason: 'x'.repeat(1000), by: 'y'.repeat(1000)});
  const phone = await openLive(browser, node, {viewport: {width: 390, height: 844}});
  await assertNoSideways(phone);
  await node.ask('ports/mlx5_0/1/resume', '');
  await phone.done();
  await page.done();
});

test('copying without a clipboard', async () => {
  const page = await openLive(browser, node, {permissions: ['clipboard-read']});
  await page.evaluate(() => { delete Navigator.prototype.clipboard; });
  await page.locator('button.open').first().click();
  await page.getByRole('button', {name: /^Copy: Ask/}).click();
  await page.getByRole('button', {name: /^Copy: Ask/}).filter({hasText: 'Copied'}).waitFor();
  await page.done();
});

test('without JavaScript the page says what to type', async () => {
  const page = await open(browser, node, {javaScriptEnabled: false, lossy: true})  // the text has no icon;
  assert.match(await page.locator('noscript').innerText(), /api\/v1\/ports\?format=text/);
  await page.getByRole('link', {name: 'ports', exact: true}).first().click();
  assert.match(await page.locator('body').innerText(), /^PORT +SERVING/);
  await page.done();
});

test('128 ports', async () => {
  const large = await Node.start('devices=16,ports=8,speed=400');
  try {
    await breakThings(large);
    for (const [width, height] of sizes) {
      const page = await openLive(browser, large, {viewport: {width, height}});
      assert.equal(await page.locator('tbody.port').count(), 128);
      assert.equal(await page.locator('#strip svg').count(), 128);
      await assertNoSideways(page);
      await page.screenshot({path: `many-${width}.png`});
      await page.getByLabel('Filter').fill('mlx5_9/3');
      await until(async () => await page.locator('tbody.port').count() === 1, 'one port');
      await page.done();
    }
  } finally {
    await large.remove();
  }
});
