import type { Page } from 'playwright-core';

/** Where the keyboard is on a page, and whether somebody who sees the page knows it. */

/** More than any screen has places to stop at. */
const TABS_MAX = 200;

interface Focus {
  /** Tells one element from all others. */
  readonly id: number;
  readonly name: string;
  /** It is on the screen, and nothing lies over it. */
  readonly isSeen: boolean;
}

/** In the page's words: functions that the others use. */
const PAGE = `
  globalThis.focusIds ??= new WeakMap();
  globalThis.focusCount ??= 0;
  const idOf = (element) => {
    if (!focusIds.has(element)) focusIds.set(element, ++focusCount);
    return focusIds.get(element);
  };
  const nameOf = (element) =>
    (element.getAttribute('aria-label') ?? (element.labels?.[0] ?? element).textContent ?? '')
      .replace(/\\s+/g, ' ').trim().slice(0, 60) || element.outerHTML.slice(0, 80);
  // A choice's own circle may be hidden: its label shows where the focus is.
  const shownOf = (element) => {
    const { width, height } = element.getBoundingClientRect();
    return width > 1 && height > 1 && getComputedStyle(element).opacity !== '0' ? element : (element.closest('label') ?? element);
  };
`;

const FOCUS = `(() => { ${PAGE}
  const element = document.activeElement;
  if (!element || element === document.body) return undefined;
  const shown = shownOf(element);
  const { left, right, top, bottom } = shown.getBoundingClientRect();
  const [x, y] = [(Math.max(left, 0) + Math.min(right, innerWidth)) / 2, (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2];
  const over = document.elementFromPoint(x, y);
  const isSeen = right > 0 && bottom > 0 && left < innerWidth && top < innerHeight &&
    over !== null && (shown.contains(over) || over.contains(shown));
  return { id: idOf(element), name: nameOf(element), isSeen };
})()`;

/** What is drawn around the element with an id: other with the focus than without it. */
const looks = (id: number) => `(() => { ${PAGE}
  const element = [...document.querySelectorAll('*')].find((one) => focusIds.get(one) === ${id});
  if (!element) return undefined;
  const near = [element, element.nextElementSibling, element.parentElement, element.closest('label')];
  return JSON.stringify(near.map((one) => {
    if (!one) return '';
    const { outlineStyle, outlineWidth, outlineColor, boxShadow, borderColor, backgroundColor, textDecoration } = getComputedStyle(one);
    return [outlineStyle !== 'none' && [outlineWidth, outlineColor], boxShadow, borderColor, backgroundColor, textDecoration];
  }));
})()`;

/** Names of what Tab should lead to: of a group of choices, one; beside a dialog, nothing. */
const STOPS = `(() => { ${PAGE}
  const root = document.querySelector('dialog[open]') ?? document;
  const all = [...root.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')].filter((element) =>
    !element.disabled && element.tabIndex >= 0 && element.checkVisibility({ visibilityProperty: true }) && !element.closest('[inert]'));
  return all.filter((element) => element.type !== 'radio' || element.checked ||
    !all.some((other) => other.type === 'radio' && other.name === element.name && other.checked))
    .map((element) => ({ id: idOf(element), name: nameOf(element) }));
})()`;

export function focusOf(page: Page): Promise<Focus | undefined> {
  return page.evaluate(FOCUS) as Promise<Focus | undefined>;
}

/**
 * Tabs through the screen once.
 * @returns what is wrong: a stop that Tab does not lead to, or where the focus cannot be seen
 */
export async function tour(page: Page): Promise<string[]> {
  const faults = new Set<string>();
  const visited = new Set<number>();
  for (let tabs = 0; tabs < TABS_MAX; tabs++) {
    await page.keyboard.press('Tab');
    const focus = await focusOf(page);
    // Behind the last stop is the browser's own bar, which has no element.
    if (!focus) continue;
    if (visited.has(focus.id)) break;
    visited.add(focus.id);
    if (!focus.isSeen) faults.add(`${focus.name} has the focus and is not seen`);
    const withFocus = await page.evaluate(looks(focus.id));
    await page.evaluate('globalThis.focusKept = document.activeElement; focusKept.blur()');
    if (withFocus === (await page.evaluate(looks(focus.id))))
      faults.add(`${focus.name} looks the same with the focus`);
    await page.evaluate('focusKept.focus({ preventScroll: true })');
  }
  const stops = (await page.evaluate(STOPS)) as readonly Pick<Focus, 'id' | 'name'>[];
  for (const { id, name } of stops) if (!visited.has(id)) faults.add(`Tab never leads to ${name}`);
  return [...faults];
}
