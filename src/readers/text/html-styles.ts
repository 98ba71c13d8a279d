import {
  BLACK,
  type Colour,
  colourOf,
  isClear,
  isFaint,
  isTiny,
  over,
  WHITE,
} from '../reading/visibility.ts';

/** What of a parsed page is needed to tell how it looks. */
export interface PageNode {
  readonly type?: string;
  readonly name?: string;
  readonly data?: string;
  readonly attribs?: Readonly<Record<string, string>>;
  readonly parent?: PageNode | null;
  children?: PageNode[];
}

type Declarations = ReadonlyMap<string, string>;

/** How letters in an element look; inherited. */
interface Look {
  readonly isInvisible: boolean;
  readonly pixels: number;
  readonly ink: Colour;
  /** Undefined: unknown, as of a picture, or of a style sheet that is not in the file. */
  readonly ground: Colour | undefined;
}

/** A part of a selector: an element's name, id, classes and attributes. */
interface Compound {
  readonly name?: string;
  readonly id?: string;
  readonly classes: readonly string[];
  readonly attributes: readonly { name: string; operator: string; value: string }[];
  /** How it stands to the one before it. */
  readonly combinator: string;
}

interface Rule {
  readonly compounds: readonly Compound[];
  readonly specificity: number;
  readonly declarations: Declarations;
}

/** Properties that may hide something. */
const PROPERTIES =
  /^(?:display|visibility|opacity|font|font-size|color|fill|background|background-color|background-image|position|left|right|top|bottom|text-indent|margin-left|margin-top|clip|clip-path|width|height|max-width|max-height|overflow|transform|filter|text-shadow)$/;
const RULES_MAX = 5_000;
/** Blocks in blocks. */
const NESTED_MAX = 5;
/** Of selectors with elements, for a whole page. */
const COMPARISONS_MAX = 20_000_000;
const PIXELS_PER_POINT = 4 / 3;
const FONT_PIXELS = 16;
/** So far beyond an edge stands nothing that is to be seen, in pixels. */
const OFF_PAGE = 500;

/**
 * How the elements of one page look, by its own style sheets and attributes (CSS 2.2, 6; Selectors 3 without pseudo-classes). Rules
 * for a kind of screen, for paper and for a moment, as `:hover`, do not count.
 */
export class PageStyles {
  readonly #rules: Rule[] = [];
  readonly #byKey = new Map<string, Rule[]>();
  readonly #looks = new WeakMap<PageNode, Look>();
  readonly #declarations = new WeakMap<PageNode, Declarations>();
  readonly #isWhole: boolean;
  #comparisons = 0;

  /** @param isWhole false where the page has style sheets that are not in the file: the ground of its text is unknown then */
  constructor(sheets: readonly string[], isWhole: boolean) {
    this.#isWhole = isWhole;
    for (const sheet of sheets) this.#read(sheet.replace(/\/\*[\s\S]*?(?:\*\/|$)/g, ' '));
    for (const rule of this.#rules.toSorted((a, b) => a.specificity - b.specificity)) {
      const key = keyOf(rule.compounds.at(-1)!);
      this.#byKey.set(key, [...(this.#byKey.get(key) ?? []), rule]);
    }
  }

  /** True once it took too long to compare: what is hidden from then on may not be noticed. */
  get isSpent(): boolean {
    return this.#rules.length >= RULES_MAX || this.#comparisons >= COMPARISONS_MAX;
  }

  /** Whether an element is hidden with all that is in it. */
  hidesAll(element: PageNode): boolean {
    const { attribs = {}, name } = element;
    if ('hidden' in attribs || attribs['aria-hidden'] === 'true') return true;
    if (name === 'dialog' && !('open' in attribs)) return true;
    const style = this.#styleOf(element);
    if (style.size === 0) return false;
    const get = (property: string): string => style.get(property) ?? '';
    const clips = /hidden|clip/.test(get('overflow'));
    const isFlat = ['width', 'height', 'max-width', 'max-height'].some((side) => pixelsOf(get(side)) <= 1);
    const isPlaced = /absolute|fixed|relative/.test(get('position'));
    const edges = ['left', 'right', 'top', 'bottom'].map((edge) => pixelsOf(get(edge)));
    const margins = [get('text-indent'), get('margin-left'), get('margin-top')].map(pixelsOf);
    const opacity = Number.parseFloat(/opacity\(([^)]{1,20})\)/.exec(get('filter'))?.[1] ?? get('opacity'));
    const moved = [...get('transform').matchAll(/translate[xy3d]*\(([^)]{1,60})\)/gi)].flatMap(([, by]) =>
      by!.split(',').map(pixelsOf),
    );
    return (
      get('display') === 'none' ||
      isClear(/%/.test(get('opacity')) ? opacity / 100 : opacity) ||
      (clips && isFlat) ||
      (isPlaced && edges.some((edge) => edge <= -OFF_PAGE)) ||
      [...margins, ...moved].some((by) => by <= -OFF_PAGE) ||
      /scale[xy3d]*\(\s*0?\.?0*\s*[,)]/i.test(get('transform')) ||
      /^rect\((?:[01](?:px)?[\s,]*){4}\)$/.test(get('clip')) ||
      /inset\(\s*(?:[5-9]\d|100)%|(?:circle|ellipse)\(\s*0/.test(get('clip-path'))
    );
  }

  /** Whether the letters of an element's own text are not seen. */
  hidesText(element: PageNode): boolean {
    const { isInvisible, pixels, ink, ground } = this.#lookOf(element);
    return isInvisible || isTiny(pixels / PIXELS_PER_POINT) || isFaint(ink, ground);
  }

  #lookOf(element: PageNode): Look {
    const known = this.#looks.get(element);
    if (known) return known;
    const parent = element.parent;
    const around =
      parent && parent.type !== 'root'
        ? this.#lookOf(parent)
        : {
            isInvisible: false,
            pixels: FONT_PIXELS,
            ink: BLACK,
            ground: this.#isWhole ? WHITE : undefined,
          };
    const style = this.#styleOf(element);
    const look = style.size === 0 && !isInlineSvg(element) ? around : this.#changed(around, style, element);
    this.#looks.set(element, look);
    return look;
  }

  #changed(around: Look, style: Declarations, element: PageNode): Look {
    const visibility = style.get('visibility');
    const size = style.get('font-size') ?? /[\d.]+(?:px|pt|em|rem|%)/.exec(style.get('font') ?? '')?.[0];
    const pixels = size === undefined ? undefined : fontPixels(size, around.pixels);
    const ink = style.get('fill') ?? style.get('color');
    const isUnsure = style.has('text-shadow') || ink?.includes('var(');
    const paint = style.get('background-color') ?? style.get('background') ?? '';
    const isPicture = /url\(|gradient|var\(/.test(`${paint} ${style.get('background-image') ?? ''}`);
    const isApart = /absolute|fixed/.test(style.get('position') ?? '') || isInlineSvg(element);
    const laid = isPicture
      ? undefined
      : colourOf(/rgba?\([^)]*\)|hsla?\([^)]*\)|#?\w+/.exec(paint)?.[0] ?? '');
    let ground = isApart || isPicture || isUnsure ? undefined : around.ground;
    if (laid && laid.alpha > 0) ground = laid.alpha === 1 ? laid : ground && over(laid, ground);
    else if (paint !== '' && !laid && !/none|inherit|initial|unset/.test(paint)) ground = undefined;
    return {
      isInvisible:
        visibility === undefined || visibility === 'inherit'
          ? around.isInvisible
          : /hidden|collapse/.test(visibility),
      pixels: pixels ?? around.pixels,
      ink: (ink === undefined ? undefined : colourOf(ink)) ?? (ink === undefined ? around.ink : BLACK),
      ground: ink !== undefined && !colourOf(ink) ? undefined : ground,
    };
  }

  #styleOf(element: PageNode): Declarations {
    const known = this.#declarations.get(element);
    if (known) return known;
    const { attribs = {}, name = '' } = element;
    const { style: inline, color, fill, bgcolor, text } = attribs;
    const style = new Map<string, string>();
    const important = new Map<string, string>();
    const apply = (declarations: Declarations): void => {
      for (const [property, value] of declarations)
        if (value.includes('!')) important.set(property, value.replace(/\s*!.*/, ''));
        else style.set(property, value);
    };
    if (name === 'font' && color) style.set('color', color);
    if (name === 'body' && text) style.set('color', text);
    if (bgcolor) style.set('background-color', bgcolor);
    if (fill && /^(?:text|tspan|g|svg)$/.test(name)) style.set('fill', fill.toLowerCase());
    for (const attribute of ['opacity', 'visibility', 'display', 'font-size'])
      if (attribs[attribute] !== undefined) style.set(attribute, attribs[attribute]);
    const keys = [
      name,
      '*',
      ...(attribs.id ? [`#${attribs.id}`] : []),
      ...classesOf(element).map((one) => `.${one}`),
    ];
    const rules = keys.flatMap((key) => this.#byKey.get(key) ?? []);
    if (rules.length > 0)
      for (const rule of rules.length > 1 ? rules.toSorted((a, b) => a.specificity - b.specificity) : rules)
        if (this.#matches(rule.compounds, rule.compounds.length - 1, element)) apply(rule.declarations);
    if (inline) apply(declarationsOf(inline));
    for (const [property, value] of important) style.set(property, value);
    this.#declarations.set(element, style);
    return style;
  }

  #matches(compounds: readonly Compound[], last: number, element: PageNode): boolean {
    if (++this.#comparisons > COMPARISONS_MAX || !fits(compounds[last]!, element)) return false;
    if (last === 0) return true;
    const { combinator } = compounds[last]!;
    if (combinator === '+' || combinator === '~') {
      const all = (element.parent?.children ?? []).filter(({ type }) => type === 'tag');
      const before = all.slice(0, all.indexOf(element));
      this.#comparisons += all.length;
      return (combinator === '+' ? before.slice(-1) : before).some((one) =>
        this.#matches(compounds, last - 1, one),
      );
    }
    for (let above = element.parent; above && above.type !== 'root'; above = above.parent) {
      if (this.#matches(compounds, last - 1, above)) return true;
      if (combinator === '>') return false;
    }
    return false;
  }

  /** @param sheet without comments */
  #read(sheet: string, deep = 0): void {
    for (let at = 0; at < sheet.length && this.#rules.length < RULES_MAX; ) {
      const open = sheet.indexOf('{', at);
      if (open < 0) return;
      const before = sheet.slice(at, open);
      const head = before.slice(before.lastIndexOf(';') + 1).trim();
      const close = endOfBlock(sheet, open);
      const inside = sheet.slice(open + 1, close);
      if (/^@(?:media\s+(?:only\s+)?(?:screen|all)\s*$|layer\b|supports\b)/i.test(head)) {
        if (deep < NESTED_MAX) this.#read(inside, deep + 1);
      } else if (!head.startsWith('@')) this.#add(head, declarationsOf(inside));
      at = close + 1;
    }
  }

  #add(selectors: string, declarations: Declarations): void {
    if (declarations.size === 0) return;
    for (const selector of selectors.split(',')) {
      const compounds = compoundsOf(selector.trim());
      if (!compounds || this.#rules.length >= RULES_MAX) continue;
      const specificity = compounds.reduce(
        (sum, { id, classes, attributes, name }) =>
          sum + (id ? 10_000 : 0) + 100 * (classes.length + attributes.length) + (name ? 1 : 0),
        0,
      );
      this.#rules.push({ compounds, specificity, declarations });
    }
  }
}

/** A drawing in a page may draw anything behind its letters. */
function isInlineSvg({ name, parent }: PageNode): boolean {
  return name === 'svg' && parent !== null;
}

function endOfBlock(sheet: string, open: number): number {
  let depth = 0;
  for (let at = open; at < sheet.length; at++)
    if (sheet[at] === '{') depth++;
    else if (sheet[at] === '}' && --depth === 0) return at;
  return sheet.length;
}

/** Those that may hide something; a later one counts. */
function declarationsOf(source: string): Declarations {
  const found = new Map<string, string>();
  for (const declaration of source.split(';')) {
    const colon = declaration.indexOf(':');
    const property = declaration.slice(0, Math.max(0, colon)).trim().toLowerCase();
    if (PROPERTIES.test(property))
      found.set(
        property,
        declaration
          .slice(colon + 1)
          .trim()
          .toLowerCase(),
      );
  }
  return found;
}

const SIMPLE =
  /([#.]?)((?:[\w-]|[^\p{ASCII}]|\\.)+|\*)|\[\s*([\w-]+)\s*(?:([~|^$*]?=)\s*(?:"([^"]*)"|'([^']*)'|([^\s\]]+))\s*[is]?\s*)?\]|\s*([>+~])\s*|\s+/guy;

/** Undefined for a selector of another kind. */
function compoundsOf(selector: string): Compound[] | undefined {
  if (selector === '' || selector.length > 500) return undefined;
  const compounds: Compound[] = [];
  type Open = { -readonly [key in keyof Compound]: Compound[key] };
  const start = (combinator: string): Open => ({ classes: [], attributes: [], combinator });
  let open = start('');
  SIMPLE.lastIndex = 0;
  while (SIMPLE.lastIndex < selector.length) {
    const match = SIMPLE.exec(selector);
    if (!match) return undefined;
    const [, mark, word = '', attribute, operator = '', one, other, bare, combinator] = match;
    if (attribute !== undefined)
      open.attributes = [
        ...open.attributes,
        { name: attribute.toLowerCase(), operator, value: one ?? other ?? bare ?? '' },
      ];
    else if (mark === '#') open.id = word;
    else if (mark === '.') open.classes = [...open.classes, word.replaceAll('\\', '')];
    else if (word !== '') open.name = word === '*' ? undefined : word.toLowerCase();
    else {
      compounds.push(open);
      open = start(combinator ?? ' ');
    }
  }
  return [...compounds, open];
}

function keyOf({ id, classes, name }: Compound): string {
  return id !== undefined ? `#${id}` : classes.length > 0 ? `.${classes[0]}` : (name ?? '*');
}

function classesOf({ attribs }: PageNode): readonly string[] {
  return attribs?.class?.split(/\s+/).filter(Boolean) ?? [];
}

function fits({ name, id, classes, attributes }: Compound, element: PageNode): boolean {
  const { attribs = {} } = element;
  if ((name !== undefined && element.name !== name) || (id !== undefined && attribs.id !== id)) return false;
  if (classes.length > 0) {
    const own = classesOf(element);
    if (!classes.every((one) => own.includes(one))) return false;
  }
  return attributes.every(({ name: attribute, operator, value }) => {
    const own = attribs[attribute];
    if (own === undefined) return false;
    if (operator === '' || own === value) return true;
    if (operator === '^=') return own.startsWith(value);
    if (operator === '$=') return own.endsWith(value);
    if (operator === '*=') return own.includes(value);
    return operator === '~=' && own.split(/\s+/).includes(value);
  });
}

/** NaN for what is no length in pixels, or a length that depends on the window. */
function pixelsOf(length: string): number {
  const [, number, unit] = /^(-?[\d.]+)(px|pt|em|rem|)$/.exec(length.trim()) ?? [];
  if (number === undefined || (unit === '' && Number(number) !== 0)) return Number.NaN;
  return (
    Number(number) * (unit === 'pt' ? PIXELS_PER_POINT : unit === 'em' || unit === 'rem' ? FONT_PIXELS : 1)
  );
}

function fontPixels(size: string, around: number): number | undefined {
  const [, number, unit = ''] = /^(-?[\d.]+)(px|pt|em|rem|%|)$/.exec(size.trim()) ?? [];
  if (number === undefined) return undefined;
  const value = Number(number);
  if (unit === 'em') return value * around;
  if (unit === '%') return (value / 100) * around;
  return value * (unit === 'pt' ? PIXELS_PER_POINT : unit === 'rem' ? FONT_PIXELS : 1);
}
