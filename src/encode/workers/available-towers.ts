import type { Missing, PictureTower, TextTower, Towers } from '../models/tower.ts';

export interface Settled {
  readonly towers: Towers;
  readonly missing: readonly Missing[];
}

/** A model's failure on a provider. */
export interface Failure {
  readonly model: string;
  readonly provider: string;
  readonly reason: string;
}

/**
 * The towers that serve after some have failed. A tower without a candidate left, or with a failure that names no other
 * provider, goes; what it was used for is missing, with the reason. A picture model stays without its words.
 */
export function settle(
  { texts, picture }: Towers,
  missing: readonly Missing[],
  failures: readonly Failure[],
): Settled {
  const lost = [...missing];
  const reasonOf = (tower: TextTower | PictureTower): string | undefined => {
    const own = failures.filter(({ model }) => model === tower.model);
    if (tower.candidates.length > 0 && own.every(({ provider }) => provider !== '')) return undefined;
    return (
      own.map(({ provider, reason }) => (provider ? `${provider}: ${reason}` : reason)).join('; ') ||
      'no provider can run it'
    );
  };
  const dead = new Map(texts.map((tower, index) => [index, reasonOf(tower)]));
  for (const [index, reason] of dead) {
    if (reason === undefined) continue;
    const tower = texts[index]!;
    if (tower.passageSpace) lost.push({ family: 'text_semantic', use: 'words', reason });
    if (tower.querySpaces.some((space) => space !== 'text_semantic'))
      lost.push({ family: 'visual', use: 'words', reason });
  }
  const kept = texts.filter((_, index) => dead.get(index) === undefined);
  const pictureReason = picture && reasonOf(picture);
  if (pictureReason !== undefined) {
    lost.push(
      { family: 'visual', use: 'pictures', reason: pictureReason },
      { family: 'visual', use: 'words', reason: pictureReason },
    );
  }
  if (!picture || pictureReason !== undefined)
    return { towers: { texts: withoutWords(kept) }, missing: lost };
  const { bridge, ...alone } = picture;
  if (!bridge || dead.get(bridge.text) !== undefined)
    return { towers: { texts: kept, picture: alone }, missing: lost };
  const text = kept.indexOf(texts[bridge.text]!);
  return { towers: { texts: kept, picture: { ...alone, bridge: { ...bridge, text } } }, missing: lost };
}

/** Text towers without the spaces of pictures, where there are none. */
function withoutWords(texts: readonly TextTower[]): TextTower[] {
  return texts
    .map((tower) => ({
      ...tower,
      querySpaces: tower.querySpaces.filter((space) => space === 'text_semantic'),
    }))
    .filter(({ querySpaces }) => querySpaces.length > 0);
}
