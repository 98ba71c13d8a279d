import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { seen } from './browser.ts';

/** What a person does on the console, in its words. */

/** Pays for a workspace with the play wallet, which the page has chosen by itself. */
export async function rent(page: Page): Promise<void> {
  const pay = page.getByRole('button', { name: 'Pay and open' });
  await page.locator('.order .chosen').waitFor();
  await pay.click();
  await page.locator('.files').waitFor();
}

/** Asks for words and waits for the answer to them. */
export async function ask(page: Page, query: string): Promise<void> {
  await page.locator('input[name=query]').fill(query);
  await page.locator('input[name=query]').press('Enter');
  await answered(page, query);
}

/** Waits until the results belong to what the address names. */
export async function answered(page: Page, query: string): Promise<void> {
  await page.waitForURL((url) => new URLSearchParams(url.hash.slice(1)).get('q') === query);
  await page.locator('button[aria-label="Search"][aria-busy="false"]').waitFor();
  await page.locator('.results').waitFor();
}

export async function addFiles(page: Page, files: Parameters<Page['setInputFiles']>[1]): Promise<void> {
  await page.getByLabel('Files to add').setInputFiles(files);
}

/** Waits until so many files are searchable. */
export async function searchable(page: Page, count: number): Promise<void> {
  await page
    .locator('.file[data-state="searchable"]')
    .nth(count - 1)
    .waitFor({ state: 'attached' });
}

export async function closeHit(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await page.locator('dialog[open]').waitFor({ state: 'detached' });
}

/** A picture from outside the browser, dropped. */
export async function dropFile(page: Page, selector: string, name: string, path: string): Promise<void> {
  const dataTransfer = await page.evaluateHandle(transferOf(name, await readFile(path)));
  await page.dispatchEvent(selector, 'drop', { dataTransfer });
}

export async function pastePicture(page: Page, path: string): Promise<void> {
  const clipboardData = transferOf('pasted.png', await readFile(path));
  await page.evaluate(
    `document.dispatchEvent(new ClipboardEvent('paste', { clipboardData: ${clipboardData}, bubbles: true }))`,
  );
}

/** In the page's words: what a drop or a paste carries. */
function transferOf(name: string, bytes: Buffer): string {
  const type = name.endsWith('.png') ? 'image/png' : '';
  return `(() => {
    const bytes = Uint8Array.from(atob('${bytes.toString('base64')}'), (letter) => letter.charCodeAt(0));
    const transfer = new DataTransfer();
    transfer.items.add(new File([bytes], '${name}', { type: '${type}' }));
    return transfer;
  })()`;
}

const TABS_MAX = 200;

/** Presses Tab until the focus is on what is called so, or begins so when the name ends with a space. */
export async function goTo(page: Page, name: string): Promise<void> {
  for (let tabs = 0; tabs < TABS_MAX; tabs++) {
    await page.keyboard.press('Tab');
    const at = await focused(page);
    if (at === name || (name.endsWith(' ') && at.startsWith(name))) return;
  }
  throw new Error(`Tab never leads to ${name}`);
}

export function focused(page: Page): Promise<string> {
  const text = '(document.activeElement.labels?.[0] ?? document.activeElement).textContent';
  return page.evaluate(
    `(document.activeElement.getAttribute('aria-label') ?? ${text}).replace(/\\s+/g, ' ').trim()`,
  ) as Promise<string>;
}

/** Unfolds what a narrow screen folds away. */
export async function unfold(page: Page, title: string): Promise<void> {
  const summary = page.locator('.fold:not([open]) > summary', { hasText: title });
  if ((await summary.count()) > 0) await summary.click();
}

export async function resultsSay(page: Page, text: string | RegExp): Promise<void> {
  await seen(page.locator('.results', { hasText: text }));
}
