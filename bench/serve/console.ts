/** How fast the first view of the console is in a real Chromium on loopback. */
import type { Browser } from 'playwright-core';
import { missing, openBrowser } from '../../test/console/browser.ts';
import { startServer } from '../rig/agent.ts';

const VISITS = Number(process.env.VISITS);

const lacking = missing();
if (lacking !== undefined) {
  console.error(lacking);
  process.exit(3);
}
const server = await startServer();
const ends: (() => unknown)[] = [() => server.stop()];
export const facts: Record<string, object> = {};
try {
  const browser = await openBrowser({ teardown: (end) => void ends.unshift(end as () => unknown) });
  const { paint, usable } = await firstViews(browser);
  facts.first_view = { paint_ms: paint, usable_ms: usable };
} finally {
  for (const end of ends) await end();
}

/** Milliseconds from the navigation to the first paint, and to the form that a visitor can use. */
async function firstViews(browser: Browser): Promise<{ paint: number[]; usable: number[] }> {
  const [paint, usable]: [number[], number[]] = [[], []];
  for (let count = 0; count < VISITS; count++) {
    // A visitor who has nothing in a cache.
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
    const page = await context.newPage();
    await page.addInitScript(`new MutationObserver((_, observer) => {
      if (!document.querySelector('form.order')) return;
      observer.disconnect();
      requestAnimationFrame(() => { window.usableAt = performance.now(); });
    }).observe(document, { childList: true, subtree: true })`);
    await page.goto(server.url);
    // Not `waitForFunction`: its text would be evaluated in the page, which the page's policy forbids.
    await page.evaluate(`new Promise((seen) => requestAnimationFrame(function look() {
      const isPainted = performance.getEntriesByName('first-contentful-paint').length > 0;
      if (window.usableAt !== undefined && isPainted) seen();
      else requestAnimationFrame(look);
    }))`);
    paint.push(
      (await page.evaluate('performance.getEntriesByName("first-contentful-paint")[0].startTime')) as number,
    );
    usable.push((await page.evaluate('window.usableAt')) as number);
    await context.close();
  }
  return { paint, usable };
}
