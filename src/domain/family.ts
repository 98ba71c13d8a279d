/** `visual`: pictures in a joint text-image space; `text_semantic`: meaning of text; `raw`: the content itself. */
export const FAMILIES = ['visual', 'text_semantic', 'raw'] as const;
export type Family = (typeof FAMILIES)[number];
