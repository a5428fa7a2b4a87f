// The configuration of Playwright's own test files on a browser that runs already: what they
// launch is connected to, at COMPAT_ENDPOINT, and COMPAT_REPORT gets the outcomes as JSON.
// It stands at the top of a copy of their folder tests.
import { createRequire } from 'node:module';

const { chromium } = createRequire(import.meta.url)('playwright-core');
chromium.launch = () => chromium.connectOverCDP(process.env.COMPAT_ENDPOINT);

export default {
  testDir: 'tests',
  testMatch: process.env.COMPAT_FILES.split(' ').map((file) => `**/${file}.spec.ts`),
  outputDir: process.env.COMPAT_OUTPUT,
  workers: 1,
  retries: 0,
  ignoreSnapshots: true, // they hold pictures of other builds
  timeout: Number(process.env.COMPAT_TIMEOUT),
  reporter: [['line'], ['json', { outputFile: process.env.COMPAT_REPORT }]],
  // The channel says that it is not the headless shell, of which the tests know other ways.
  projects: [{ name: 'chromium', use: { browserName: 'chromium', headless: true, channel: 'chromium' } }],
};
