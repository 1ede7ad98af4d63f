// One browser and one simulated node for all tests of a file.
import {after, before} from 'node:test';
import {launch} from './browser.mjs';
import {Node} from './node.mjs';

export let browser;
export let node;

before(async () => {
  browser = await launch();
  node = await Node.start('devices=16,speed=400');
});
after(async () => {
  await browser?.close();
  await node?.remove();
});
