/**
 * How fast the console is in a real Chromium: its first view on loopback, and the frames while a thousand hits are scrolled:
 * `make bench NAME=console`. Takes about a minute; wants a machine that does nothing else.
 */
import { resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { missing, openBrowser, visit } from '../../test/console/browser.ts';
import { quantile, startServer } from '../rig/agent.ts';
import { machine, writeRecord } from '../rig/record.ts';

const VISITS = 9;
const HITS = 1000;
/** Pixels a frame: 60 frames a second of it are a fast reader with a finger on the wheel. */
const PIXELS_A_FRAME = 60;
const FRAMES = 600;
/** Two frames of a display of 60 Hz: longer ones are seen as a jerk. */
const JERK_MS = 34;
const ALMANAC = resolve(import.meta.dirname, '../../samples/almanac.pdf');

const lacking = missing();
if (lacking !== undefined) {
  console.error(lacking);
  process.exit(3);
}
const of = machine();
const server = await startServer();
const ends: (() => unknown)[] = [() => server.stop()];
try {
  const browser = await openBrowser({ teardown: (end) => void ends.unshift(end as () => unknown) });
  console.log(`${of.processor}, ${of.cores} cores, load ${of.load_before[0]}, Chromium ${browser.version()}`);
  const views = await firstViews(browser);
  const view = {
    paint_ms: quantile(views.paint, 0.5),
    usable_ms: quantile(views.usable, 0.5),
    worst_ms: Math.max(...views.usable),
  };
  console.log(
    `first view: first paint ${view.paint_ms.toFixed(0)} ms, usable ${view.usable_ms.toFixed(0)} ms (median of ${VISITS}), at worst ${view.worst_ms.toFixed(0)} ms`,
  );
  const frames = await scroll(browser);
  const smooth = {
    p50_ms: quantile(frames, 0.5),
    p95_ms: quantile(frames, 0.95),
    p99_ms: quantile(frames, 0.99),
    max_ms: Math.max(...frames),
    jerks: frames.filter((ms) => ms > JERK_MS).length,
  };
  console.log(
    `${HITS} hits: frames p50 ${smooth.p50_ms.toFixed(1)}, p95 ${smooth.p95_ms.toFixed(1)}, p99 ${smooth.p99_ms.toFixed(1)}, max ${smooth.max_ms.toFixed(1)} ms; ${smooth.jerks} of ${frames.length} over ${JERK_MS} ms`,
  );
  writeRecord('console', { first_view: view, scrolling: smooth }, of);
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
    await page.waitForFunction(
      'window.usableAt !== undefined && performance.getEntriesByName("first-contentful-paint").length > 0',
    );
    paint.push(
      (await page.evaluate('performance.getEntriesByName("first-contentful-paint")[0].startTime')) as number,
    );
    usable.push((await page.evaluate('window.usableAt')) as number);
    await context.close();
  }
  return { paint, usable };
}

/** Milliseconds between the frames of a scroll over many hits. */
async function scroll(browser: Browser): Promise<number[]> {
  const { page } = await visit(browser, server.url);
  await page.getByRole('button', { name: 'Use a play wallet' }).click();
  await page.getByRole('button', { name: 'Pay and open' }).click();
  await page.getByLabel('Files to add').setInputFiles(ALMANAC);
  await page.locator('.file[data-state="searchable"]').waitFor();
  await multiplyHits(page);
  await page.getByRole('searchbox').fill('bees and tides');
  await page.keyboard.press('Enter');
  await page.locator('#results-title', { hasText: `${HITS} hits` }).waitFor();
  return (await page.evaluate(`new Promise((resolve) => {
    const times = [];
    requestAnimationFrame(function frame(at) {
      times.push(at);
      scrollBy(0, ${PIXELS_A_FRAME});
      if (times.length <= ${FRAMES}) return requestAnimationFrame(frame);
      resolve(times.slice(1).map((time, index) => time - times[index]));
    });
  })`)) as number[];
}

/** The hits of a real answer again and again: so many pages would take minutes to encode. */
async function multiplyHits(page: Page): Promise<void> {
  await page.route('**/search', async (route) => {
    const response = await route.fetch();
    const answer = (await response.json()) as { hits: object[] };
    const hits = Array.from({ length: HITS }, (_, index) => answer.hits[index % answer.hits.length]);
    await route.fulfill({ response, json: { ...answer, hits } });
  });
}
