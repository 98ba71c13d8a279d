/**
 * How fast the console is in a real Chromium: its first view on loopback, and the frames while a thousand hits are scrolled. Takes
 * about a minute and wants a machine that does nothing else.
 */
import { resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { missing, openBrowser, visit } from '../../test/console/browser.ts';
import { addFiles, ask, rent, searchable } from '../../test/console/page.ts';
import { quantile, startServer } from '../rig/agent.ts';

const [HITS, VISITS] = [Number(process.env.HITS), Number(process.env.VISITS)];
/** Pixels a frame: 60 frames a second of it are a fast reader with a finger on the wheel. */
const PIXELS_A_FRAME = 60;
/** A scroll ends at the last hit; this many frames are more than enough. */
const FRAMES_MAX = 6000;
/** A task as long as this keeps the page from answering (the browser reports longer ones). */
const TASK_MS = 50;
const ALMANAC = resolve(import.meta.dirname, '../../samples/almanac.pdf');

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
  const { frames, tasks, drawn, processorMs } = await scroll(browser);
  if (drawn !== HITS) throw new Error(`${drawn} of ${HITS} hits were drawn`);
  facts.scrolling = {
    p50_ms: quantile(frames, 0.5),
    p95_ms: quantile(frames, 0.95),
    p99_ms: quantile(frames, 0.99),
    longest_task_ms: Math.max(0, ...tasks),
    // What other programs took from the page is not its doing.
    longest_task_processor_ms: Math.max(0, ...processorMs),
    long_tasks_by_processor_time: processorMs.filter((ms) => ms > TASK_MS).length,
  };
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

interface Scrolled {
  /** Milliseconds between frames. */
  readonly frames: number[];
  /** Milliseconds of the tasks that the browser calls long. */
  readonly tasks: number[];
  /** Milliseconds of processor time of every task of the page's main thread. */
  readonly processorMs: number[];
  readonly drawn: number;
}

/** A scroll through all hits, from the first to the last. */
async function scroll(browser: Browser): Promise<Scrolled> {
  const { page } = await visit(browser, server.url);
  await rent(page);
  await addFiles(page, ALMANAC);
  await searchable(page, 1);
  await multiplyHits(page);
  await ask(page, 'bees and tides');
  await page.locator('#results-title', { hasText: `${HITS} hits` }).waitFor();
  await browser.startTracing(page, { categories: ['toplevel'] });
  const scrolled = (await page.evaluate(`new Promise((resolve) => {
    const [times, tasks] = [[], []];
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)))
      .observe({ type: 'longtask' });
    requestAnimationFrame(function frame(at) {
      times.push(at);
      const { scrollTop, scrollHeight } = document.documentElement;
      const isOver = scrollTop + innerHeight >= scrollHeight - 2 && document.querySelectorAll('.hit').length === ${HITS};
      scrollBy(0, ${PIXELS_A_FRAME});
      if (!isOver && times.length <= ${FRAMES_MAX}) return requestAnimationFrame(frame);
      const frames = times.slice(1).map((time, index) => time - times[index]);
      resolve({ frames, tasks, drawn: document.querySelectorAll('.hit').length });
    });
  })`)) as Omit<Scrolled, 'processorMs'>;
  return { ...scrolled, processorMs: tasksOfPage(await browser.stopTracing()) };
}

/** An event of Chromium's trace: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU */
interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds of processor time; a task has them. */
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

/** Of the main thread that worked the most: the browser keeps a spare one. */
function tasksOfPage(trace: Buffer): number[] {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: readonly TraceEvent[] };
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid}/${tid}`;
  const tasks = new Map<string, number[]>();
  for (const event of traceEvents)
    if (event.name === 'thread_name' && event.args.name === 'CrRendererMain') tasks.set(threadOf(event), []);
  for (const event of traceEvents)
    if (event.name.endsWith('RunTask') && event.tdur !== undefined)
      tasks.get(threadOf(event))?.push(event.tdur / 1000);
  return [...tasks.values()].toSorted((a, b) => b.length - a.length)[0] ?? [];
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
