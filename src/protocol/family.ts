interface FamilyWords {
  /** Name for people. */
  readonly label: string;
  /** For descriptions of the interface. */
  readonly finds: string;
}

/**
 * Searchable content, in two tables: the families that a caller chooses among, and the ranked lists that a search fuses.
 * A new family is a line of the first and its lists in the second.
 */
export const FAMILY_TABLE = {
  visual: { label: 'Look', finds: 'pictures, by picture or by words' },
  text_semantic: { label: 'Meaning', finds: 'meaning of text' },
  raw: { label: 'Exact', finds: 'exact words, near-identical pictures' },
} as const satisfies Record<string, FamilyWords>;

export type Family = keyof typeof FAMILY_TABLE;
export const FAMILIES = keysOf(FAMILY_TABLE);

/** Kinds of Segments: lists of one kind are summed, kinds are compared by confidence. */
export const SEGMENT_KINDS = ['passages', 'pictures'] as const;
export type SegmentKind = (typeof SEGMENT_KINDS)[number];

/** Input of encoders: texts, and pictures as sRGB bytes in the size of the model's PictureSpec. */
export type InputKind = 'text' | 'picture';
export type EncoderInput<Kind extends InputKind = InputKind> = Kind extends 'text' ? string : Uint8Array;

/** Fields of a search that lists answer, and what an encoder is given of each. */
export const QUERY_INPUTS = { query: 'text', image: 'picture' } as const satisfies Record<string, InputKind>;
export type QueryField = keyof typeof QUERY_INPUTS;

interface ListCommon {
  readonly family: Family;
  readonly kind: SegmentKind;
  readonly asksWith: QueryField;
  /** A match outranks every likeness, and no match says nothing. */
  readonly nearIdentical?: true;
}

/** A list of vectors. It is served by the space among these that a model fills and the query can be encoded for. */
interface VectorList extends ListCommon {
  readonly scans: 'vectors';
  readonly spaces: readonly string[];
}

/** A list of the content itself, which needs no model. */
interface ContentList extends ListCommon {
  readonly scans: 'words' | 'fingerprints';
}

/** The ranked lists that one search may fuse, in the order in which they are scanned and explained. */
const LIST_TABLE = {
  text_semantic: {
    family: 'text_semantic',
    kind: 'passages',
    asksWith: 'query',
    scans: 'vectors',
    spaces: ['text_semantic'],
  },
  visual_words: {
    family: 'visual',
    kind: 'pictures',
    asksWith: 'query',
    scans: 'vectors',
    spaces: ['visual_words', 'visual_picture'],
  },
  visual_picture: {
    family: 'visual',
    kind: 'pictures',
    asksWith: 'image',
    scans: 'vectors',
    spaces: ['visual_picture'],
  },
  raw_words: { family: 'raw', kind: 'passages', asksWith: 'query', scans: 'words' },
  raw_picture: {
    family: 'raw',
    kind: 'pictures',
    asksWith: 'image',
    scans: 'fingerprints',
    nearIdentical: true,
  },
} as const satisfies Record<string, VectorList | ContentList>;

type Table = typeof LIST_TABLE;
export type ListName = keyof Table;
export type VectorListName = {
  [Name in ListName]: Table[Name]['scans'] extends 'vectors' ? Name : never;
}[ListName];
export type ContentListName = Exclude<ListName, VectorListName>;
export type ListTraits = VectorList | ContentList;
/** A vector space of the models in use, by what it holds. */
export type SpaceName = Table[VectorListName]['spaces'][number];

export const LISTS: Readonly<Record<VectorListName, VectorList> & Record<ContentListName, ContentList>> =
  LIST_TABLE;
export const LIST_NAMES = keysOf(LIST_TABLE);
export const VECTOR_LISTS = LIST_NAMES.filter(
  (name): name is VectorListName => LISTS[name].scans === 'vectors',
);
export const CONTENT_LISTS = LIST_NAMES.filter(
  (name): name is ContentListName => LISTS[name].scans !== 'vectors',
);

/** Kind of Segment whose vectors a space holds; undefined for one that no list scans. */
export function segmentKindOf(space: string): SegmentKind | undefined {
  const list = VECTOR_LISTS.find((name) => LISTS[name].spaces.includes(space));
  return list && LISTS[list].kind;
}

export const SPACE_NAMES: readonly SpaceName[] = [
  ...new Set(VECTOR_LISTS.flatMap((name): readonly SpaceName[] => LIST_TABLE[name].spaces)),
];

function keysOf<T extends object>(table: T): readonly (keyof T)[] {
  return Object.keys(table) as (keyof T)[];
}
