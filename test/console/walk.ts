import type { Page, Request } from 'playwright-core';
import { seen } from './browser.ts';
import { docx, odd, sample, tone } from './files.ts';
import {
  addFiles,
  answered,
  ask,
  closeHit,
  dropFile,
  pastePicture,
  rent,
  resultsSay,
  searchable,
  unfold,
} from './page.ts';

export interface WalkOptions {
  /** Called at each state that is worth a look. */
  readonly stop: (name: string) => Promise<void>;
  /** A film's path. */
  readonly film: string;
  /** Lets rented time pass. */
  readonly minutesPass: (minutes: number) => void;
}

/** Through every state of the console, as a person would come to it. The page is a fresh visitor's. */
export async function walk(page: Page, { stop, film, minutesPass }: WalkOptions): Promise<void> {
  await start(page, stop);
  await filling(page, stop, film);
  await words(page, stop);
  await hits(page, stop);
  await pictures(page, stop);
  await noAnswers(page, stop);
  await again(page, stop);
  await faults(page, stop);
  await ends(page, stop, minutesPass);
}

type Stop = WalkOptions['stop'];

/** Waits until no picture of the results is awaited. The walk has few hits: all are near the screen. */
async function picturesShown(page: Page): Promise<void> {
  await page.locator('.hit .thumbnail[data-state="shown"]').first().waitFor();
  while ((await page.locator('.hit .thumbnail[data-state="loading"]').count()) > 0)
    await page.locator('.hit .thumbnail[data-state="loading"]').first().waitFor({ state: 'detached' });
}

async function start(page: Page, stop: Stop): Promise<void> {
  await seen(page.locator('.order .chosen'));
  await stop('start');
  const minutes = page.getByLabel('Minutes', { exact: true });
  await minutes.fill('5000');
  await seen(page.getByText('From 1 to 1440 minutes are sold: it will be 1440.'));
  await seen(page.locator('.price', { hasText: '0.73' }));
  await stop('start-minutes-out-of-range');
  await minutes.press('Tab');
  await seen(page.locator('input[value="1440"]:checked + span'));
  await page.getByLabel('Spend at most (USD)').fill('0.5');
  await seen(page.getByText('The limit is below the price'));
  await page.getByLabel('Spend at most (USD)').fill('');
  await minutes.fill('60');
  await dropFile(page, 'body', 'tea.txt', sample('tea.txt'));
  await seen(page.getByText('The dropped file is added then.'));
  await rent(page);
}

async function filling(page: Page, stop: Stop, film: string): Promise<void> {
  await seen(page.getByText(/Add files first|The files are being read|Ask something/));
  await unfold(page, 'Files');
  await searchable(page, 1);
  await dropFile(page, 'h1', 'lighthouses.md', sample('lighthouses.md'));
  await searchable(page, 2);
  const pictures = ['chelsea.png', 'coffee.png', 'hot_dog.jpg', 'rocket.jpg'];
  await addFiles(page, [sample('almanac.pdf'), ...pictures.map(sample), film]);
  await addFiles(page, [docx(), tone(), odd('odd-one.bin'), odd('odd-two.bin')]);
  await seen(page.locator('.file-total progress'));
  await stop('files-being-read');
  // Of the tone nothing can be searched, but it is an item.
  await searchable(page, 9);
  await page.locator('.failure summary', { hasText: '2 files' }).waitFor();
  await page.locator('.file-total', { hasText: 'failed' }).waitFor();
  await page.locator('.failure summary').first().click();
  await stop('files-failed');
  await page.getByRole('button', { name: 'Try 2 again' }).click();
  await page.locator('.failure summary', { hasText: '2 files' }).click();
  await page.getByRole('button', { name: 'Remove 2' }).click();
  await page.locator('.failure').waitFor({ state: 'detached' });
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save tea.txt' }).click();
  if ((await saved).suggestedFilename() !== 'tea.txt') throw new Error('saved under another name');
  await page.getByLabel('Filter files by name').fill('che');
  await page.locator('.file').nth(1).waitFor({ state: 'detached' });
  await page.getByLabel('Filter files by name').fill('');
}

async function words(page: Page, stop: Stop): Promise<void> {
  await ask(page, 'how do bees tell each other where the food is');
  await picturesShown(page);
  await stop('words');
  await page.getByText('Timing', { exact: true }).click();
  await seen(page.getByText('Network and page'));
  await page.getByText('As code', { exact: true }).click();
  await seen(page.locator('.code', { hasText: 'curl' }));
  await page.getByRole('button', { name: 'As TypeScript' }).click();
  await seen(page.locator('.code', { hasText: 'farthing.workspaces.open' }));
  await stop('as-code');
}

async function hits(page: Page, stop: Stop): Promise<void> {
  await page.locator('.hit .title').first().click();
  await seen(page.locator('dialog[open] .large img'));
  await seen(page.locator('dialog[open] .box'));
  await stop('hit-page');
  await page.getByRole('button', { name: 'Next page' }).click();
  await seen(page.getByAltText('almanac.pdf, page 2'));
  await page.keyboard.press('ArrowRight');
  await page.getByText(/^2 of \d/).waitFor({ state: 'attached' });
  await closeHit(page);
  await ask(page, 'which colours do lighthouses have');
  await page.locator('.hit', { hasText: 'lighthouses.md' }).locator('.title').first().click();
  await seen(page.locator('dialog[open] .passage .found'));
  await stop('hit-text');
  await closeHit(page);
  await ask(page, 'may I take my bicycle on the ferry');
  await page.locator('.hit .title', { hasText: 'ferry.docx' }).click();
  await seen(page.locator('dialog[open] [data-wide="true"]'));
  await stop('hit-without-picture');
  await closeHit(page);
}

async function pictures(page: Page, stop: Stop): Promise<void> {
  await ask(page, 'a rocket taking off');
  await picturesShown(page);
  await stop('films-and-pictures');
  await page.locator('.hit[data-kind="film"] .title').first().click();
  await seen(page.locator('dialog[open] .large'));
  await stop('hit-film');
  await closeHit(page);
  await page.getByLabel('Picture to search with').setInputFiles(sample('chelsea.png'));
  await seen(page.getByAltText('Searching with chelsea.png'));
  await seen(page.locator('[data-layout="grid"] .hit', { hasText: 'chelsea.png' }));
  await seen(page.locator('.hit .thumbnail[data-state="shown"]'));
  await stop('picture-search');
  await page.reload();
  await seen(page.getByAltText('Searching with chelsea.png'));
  await seen(page.locator('[data-layout="grid"] .hit', { hasText: 'chelsea.png' }));
  await page.getByRole('button', { name: 'More like this: chelsea.png' }).click();
  await page.locator('.hit', { hasText: 'chelsea.png' }).waitFor({ state: 'detached' });
  await dropFile(page, '.search', 'dropped.png', sample('coffee.png'));
  await seen(page.getByAltText('Searching with dropped.png'));
  await pastePicture(page, sample('chelsea.png'));
  await seen(page.locator('.hit').first().getByText('chelsea.png'));
  await page.getByRole('button', { name: 'Search without the picture' }).click();
}

async function noAnswers(page: Page, stop: Stop): Promise<void> {
  await ask(page, 'quarterly payroll tax of the subsidiary');
  await resultsSay(page, /No good match|Nothing was found/);
  await stop('no-good-match');
  await ask(page, '“purple elephants never vote”');
  await resultsSay(page, 'Nowhere as a phrase, searched as words');
  await stop('relaxed');
  await ask(page, 'lighthose keepers');
  await resultsSay(page, 'Searched for');
  await stop('corrected');
}

/** Reload, Back, the history and the filter. */
async function again(page: Page, stop: Stop): Promise<void> {
  await ask(page, 'the moon');
  const searched: string[] = [];
  const note = (request: Request) => {
    if (request.url().endsWith('/search')) searched.push(request.method());
  };
  page.on('request', note);
  await page.reload();
  await page.locator('.results .hit').first().waitFor();
  await unfold(page, 'Files');
  await searchable(page, 9);
  if (searched.length > 0) throw new Error('a reload searches again');
  page.off('request', note);
  await page.goBack();
  await answered(page, 'lighthose keepers');
  await page.goForward();
  await answered(page, 'the moon');
  await page.locator('.past button', { hasText: 'how do bees tell' }).click();
  await answered(page, 'how do bees tell each other where the food is');
  const kind = page.locator('.filters button', { hasText: 'Text' });
  await kind.click();
  await page.reload();
  await seen(page.locator('.filters button[aria-pressed="true"]', { hasText: 'Text' }));
  await seen(page.getByText(/^\d+ of \d+ hits/));
  await stop('filtered-after-reload');
}

async function faults(page: Page, stop: Stop): Promise<void> {
  await page.route('**/search', (route) =>
    route.fulfill({
      status: 500,
      contentType: 'application/problem+json',
      json: { code: 'internal', detail: 'Something failed here. Nothing was charged.', charged: false },
    }),
  );
  await page.locator('input[name=query]').fill('tea');
  await page.locator('input[name=query]').press('Enter');
  await seen(page.getByRole('heading', { name: 'The search failed' }));
  if ((await page.locator('.hit').count()) > 0) throw new Error('the old answer stands');
  await stop('search-failed');
  await page.unroute('**/search');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.locator('.results .hit').first().waitFor();
}

async function ends(page: Page, stop: Stop, minutesPass: (minutes: number) => void): Promise<void> {
  await unfold(page, 'Workspace');
  await page.getByRole('button', { name: /^Pay .* USD$/ }).click();
  await seen(page.getByText('0.0475 USD'));
  await page.getByRole('button', { name: 'Destroy and get the receipt' }).click();
  await stop('destroy');
  await page.getByRole('button', { name: 'Destroy', exact: true }).click();
  await seen(page.getByText(/The signature is good/));
  await page.reload();
  await seen(page.getByText(/The signature is good/));
  await stop('receipt');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save it as a file' }).click();
  const name = (await download).suggestedFilename();
  if (!/^farthing-receipt-ws_\w+\.jws$/.test(name)) throw new Error(`saved as ${name}`);
  await page.getByRole('button', { name: 'Open another workspace' }).click();
  await page.getByRole('button', { name: 'Pay and try it with sample files' }).click();
  await unfold(page, 'Files');
  await searchable(page, 7);
  await stop('samples');
  await page.locator('.invitation .chip-button').first().click();
  await page.locator('.results .hit').first().waitFor();
  await page.locator('input[name=query]').fill('too late');
  minutesPass(16);
  // The page asks for its usage every few seconds, and may know before the field is sent.
  await page.keyboard.press('Enter');
  await seen(page.getByRole('heading', { name: 'Your workspace has expired' }));
  await stop('time-over');
  await page.getByRole('button', { name: 'Get its receipt' }).click();
  await seen(page.getByText(/The signature is good/));
  await seen(page.locator('.receipt', { hasText: 'expired' }));
}
