import { type Colour, colourOf, isFaint, isTiny, WHITE } from '../reading/visibility.ts';

/** How letters look; absent: as around them. */
interface Look {
  readonly isHidden?: boolean;
  readonly isRaised?: boolean;
  readonly isStruck?: boolean;
  readonly ink?: Colour;
  /** Absent inside: a ground that is not known. */
  readonly ground?: { readonly colour: Colour | undefined };
}

const STYLED = /^(?:text:(?:p|h|span|a|section)|table:table-cell|draw:(?:frame|custom-shape|text-box))$/;

/** The styles of an OpenDocument file, and the look of the place that is being read (part 3, 16 and 20). */
export class OdfLooks {
  readonly #styles = new Map<string, Look>();
  readonly #around: { readonly element: string; readonly look: Look }[] = [];
  #style = '';

  /** Takes a style, or goes into an element. */
  open(fullName: string, attributes: Readonly<Record<string, string>>): void {
    if (fullName === 'style:style') {
      this.#style = attributes.name ?? '';
      this.#styles.set(this.#style, this.#styles.get(attributes['parent-style-name'] ?? '') ?? {});
    } else if (fullName === 'style:text-properties') this.#add(textLook(attributes));
    else if (/^style:(?:paragraph|table-cell|graphic)-properties$/.test(fullName)) {
      const paint = attributes['background-color'] ?? attributes['fill-color'];
      if (paint !== undefined && paint !== 'transparent') this.#add({ ground: { colour: colourOf(paint) } });
    } else if (STYLED.test(fullName)) {
      const { display } = attributes;
      const own = this.#styles.get(attributes['style-name'] ?? '') ?? {};
      const drawn = fullName.startsWith('draw:') && !own.ground ? { ground: { colour: undefined } } : {};
      const look = { ...this.#look, ...drawn, ...own, ...(display === 'none' && { isHidden: true }) };
      this.#around.push({ element: fullName, look });
    }
  }

  close(fullName: string): void {
    if (this.#around.at(-1)?.element === fullName) this.#around.pop();
  }

  /** Whether text in this place is not seen. */
  get hides(): boolean {
    const { isHidden = false, ink, ground } = this.#look;
    return isHidden || (ink !== undefined && isFaint(ink, ground ? ground.colour : WHITE));
  }

  get isRaised(): boolean {
    return this.#look.isRaised ?? false;
  }

  get isStruck(): boolean {
    return this.#look.isStruck ?? false;
  }

  get #look(): Look {
    return this.#around.at(-1)?.look ?? {};
  }

  #add(look: Look): void {
    this.#styles.set(this.#style, { ...this.#styles.get(this.#style), ...look });
  }
}

function textLook(attributes: Readonly<Record<string, string>>): Look {
  const { color, display } = attributes;
  const size = /^([\d.]+)pt$/.exec(attributes['font-size'] ?? '')?.[1];
  const paint = attributes['background-color'];
  const line = attributes['text-line-through-style'] ?? attributes['text-line-through-type'];
  const ink = color === undefined ? undefined : colourOf(color);
  return {
    ...(display !== undefined && { isHidden: display === 'none' }),
    ...(size !== undefined && isTiny(Number(size)) && { isHidden: true }),
    ...(ink && { ink }),
    ...(paint !== undefined && paint !== 'transparent' && { ground: { colour: colourOf(paint) } }),
    ...(/^super/.test(attributes['text-position'] ?? '') && { isRaised: true }),
    ...(line !== undefined && { isStruck: line !== 'none' }),
  };
}
