import { accessSync, constants } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import type { Test } from 'tap';

const ROOT = resolve(import.meta.dirname, '../..');
/** Where tests leave what they saw, for people. */
const SHOTS = join(ROOT, '.build/console-screenshots');
export const BUILT = join(ROOT, '.build/console');

/** For any one thing to happen: a machine may be stalled for long. */
export const PATIENCE_MS = 180_000;

const PLACES = ['chromium', 'chromium-browser', 'google-chrome'].flatMap((name) =>
  ['/usr/bin', '/usr/local/bin'].map((folder) => join(folder, name)),
);
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Why these tests cannot run here; undefined when they can. */
export function missing(): string | undefined {
  return chromiumMissing() ?? notBuilt();
}

export function chromiumMissing(): string | undefined {
  return chromiumPath() ? undefined : 'no Chromium here (Debian: apt-get install chromium)';
}

export function notBuilt(): string | undefined {
  return isThere(join(BUILT, 'index.html')) ? undefined : 'the console is not built (make console)';
}

function chromiumPath(): string | undefined {
  return process.env.CHROMIUM_BINARY ?? PLACES.find(isThere);
}

function isThere(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** Starts a browser, which is closed when the test ends. */
export async function openBrowser(t: Pick<Test, 'teardown'>): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    headless: true,
    args: FLAGS,
    timeout: PATIENCE_MS,
  });
  t.teardown(() => browser.close());
  return browser;
}

export interface PaidAttempt {
  readonly page: Page;
  /** Every request's address. */
  readonly requested: readonly string[];
  /** Uncaught errors, what the console calls an error, and requests that leave the origin. */
  readonly faults: readonly string[];
}

/** A fresh visitor on a page that it has not seen before. */
export async function visit(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<PaidAttempt> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const requested: string[] = [];
  const faults: string[] = [];
  page.on('request', (request) => {
    const address = request.url();
    requested.push(address);
    // Blobs are the page's own.
    if (!address.startsWith(`${new URL(url).origin}/`) && !address.startsWith('blob:'))
      faults.push(`leaves the origin: ${address}`);
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    // The browser reports every answer over 399 as an error; a 402 is how paying begins, a 401 may come after the end.
    if (message.type() === 'error' && !/status of (401|402|415|422|500)/.test(message.text()))
      faults.push(message.text());
  });
  await page.goto(url);
  return { page, requested, faults };
}

/** Waits until an element can be seen; without end in sight the test's own time limit ends it. */
export async function seen(place: Locator): Promise<void> {
  await place.first().waitFor({ state: 'visible' });
}

export async function shoot(page: Page, name: string): Promise<void> {
  await mkdir(SHOTS, { recursive: true });
  await page.screenshot({ path: join(SHOTS, `${name}.png`) });
}

/** Where the page says `1 files`. */
export async function wrongPlurals(page: Page): Promise<string[]> {
  const text = (await page.evaluate('document.body.innerText')) as string;
  return (
    text.match(/(?<![\d.,:/] ?)\b1 (files|hits|indexes|items|minutes|pages|searches|segments|uploads)\b/g) ??
    []
  );
}

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** What axe-core (WCAG 2.2 A and AA, and best practices) has against the page as it is now. */
export async function violations(page: Page): Promise<string[]> {
  const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  // Through the debugger, not as a script element: the page's own policy allows none.
  await page.evaluate(source);
  const found = (await page.evaluate('axe.run(document).then((result) => result.violations)')) as Violation[];
  return found.map(
    ({ id, help, nodes }) =>
      `${id}: ${help}\n${nodes.map(({ html, failureSummary }) => `  ${html}\n  ${failureSummary}`).join('\n')}`,
  );
}
