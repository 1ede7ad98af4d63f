// Chromium, and what must hold of the page whatever is looked at.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {chromium} from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export function launch() {
  return chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu',
    '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
    '--disable-sync']});
}

/** The page of a node. `lossy`: the connection is meant to fail, which a browser logs as an error. */
export async function open(browser, node, {lossy = false, ...options} = {}) {
  const page = await browser.newPage({viewport: {width: 1280, height: 800}, ...options});
  const wrong = [];
  page.on('console', (message) => {
    const failed = lossy && message.text().startsWith('Failed to load resource');
    if (!failed && ['error', 'warning'].includes(message.type())) {
      wrong.push(message.text());
    }
  });
  page.on('pageerror', (error) => wrong.push(String(error)));
  page.on('dialog', (dialog) => { wrong.push(dialog.message()); dialog.dismiss(); });
  page.on('request', (request) => {
    const url = request.url();
    if (request.method() !== 'GET' || !(url.startsWith(node.url) || url.startsWith('data:image/svg+xml,'))) {
      wrong.push(`${request.method()} ${url}`);
    }
  });
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => console.error(`policy: ${event.violatedDirective}`));
  });
  await page.goto(`${node.url}${options.hash ?? ''}`);
  page.done = async () => {
    assert.deepEqual(wrong, []);
    await page.close();
  };
  return page;
}

export async function openLive(browser, node, options) {
  const page = await open(browser, node, options);
  await page.locator('#link.live').waitFor();
  await page.locator('main[aria-busy=false]').waitFor();
  return page;
}

/** The line of a port. */
export const line = (page, name) =>
    page.locator('tbody.port').filter({has: page.getByRole('button', {name, exact: true})});

export async function assertNoSideways(page) {
  const widths = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(widths[0] <= widths[1], `scrolls sideways: ${widths}`);
}

/** What axe-core finds wrong. */
export async function assertAccessible(page) {
  await page.evaluate(axe);
  const {violations} = await page.evaluate(() => axe.run());
  const told = ({html, failureSummary}) => `${html} ${failureSummary}`;
  const found = violations.map(({id, nodes}) => `${id}: ${nodes.slice(0, 3).map(told)}`);
  assert.deepEqual(found, []);
}
