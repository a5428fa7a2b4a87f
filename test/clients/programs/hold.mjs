// Playwright that holds a connection until it is killed.
import { chromium } from 'playwright-core';
import { place, print } from './step.mjs';

await chromium.connectOverCDP(place.ws, { timeout: 15000 });
print({ step: 'connected', value: true });
setInterval(() => {}, 1000);
