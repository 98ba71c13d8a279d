import { tooLarge } from '../reading/refusal.ts';

/** No page for people has more. Elements count with their ends. */
const TAGS_MAX = 500_000;
export const NESTING_MAX = 1_000;
const ATTRIBUTES_MAX = 1_000;
/** Elements that end where the next one begins: they nest in none of their kind. Void elements have no end. */
const UNNESTED =
  /^(p|li|dt|dd|tr|td|th|thead|tbody|tfoot|colgroup|option|optgroup|rb|rt|rp|area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)$/;
/** Elements whose content is text up to their end tag. */
const RAW = /^(script|style|textarea|title|xmp|noembed|noframes|iframe)$/;
const NAME = /[a-z][^\s/>]*/iy;
/** An attribute with its value (HTML, 13.1.2.3), or what is taken for one. */
const ATTRIBUTE = /[\s/]*[^\s/>][^\s/>=]*(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>"'][^\s>]*)?)?/y;

/**
 * Counts tags before a parser builds a tree of them, in time that grows with the length alone.
 * @throws document_too_large for more elements, deeper ones or more attributes than a page for people has.
 */
export function checkHtml(source: string): void {
  let [tags, depth] = [0, 0];
  for (let at = source.indexOf('<'); at >= 0; at = source.indexOf('<', at)) {
    if (++tags > TAGS_MAX)
      throw tooLarge(`Send pages of at most ${TAGS_MAX} tags.`, { limit_tags: TAGS_MAX });
    if (source.startsWith('<!--', at)) {
      at = endOf(source, '-->', at + 2);
      continue;
    }
    const isEnd = source[at + 1] === '/';
    NAME.lastIndex = at + (isEnd ? 2 : 1);
    const name = NAME.exec(source)?.[0].toLowerCase();
    if (name === undefined) {
      at = /[!?]/.test(source[at + 1] ?? '') ? endOf(source, '>', at) : at + 1;
      continue;
    }
    const tagEnd = endOfTag(source, NAME.lastIndex);
    const isEmpty = source[tagEnd - 1] === '/';
    at = tagEnd;
    if (UNNESTED.test(name)) continue;
    if (isEnd) {
      if (depth > 0) depth--;
    } else if (RAW.test(name)) at = endOfRaw(source, name, tagEnd);
    else if (!isEmpty && ++depth > NESTING_MAX)
      throw tooLarge(`Send pages whose elements are nested at most ${NESTING_MAX} deep.`, {
        limit_nesting: NESTING_MAX,
      });
  }
}

/** Where the tag's ">" is. @throws document_too_large for too many attributes. */
function endOfTag(source: string, from: number): number {
  ATTRIBUTE.lastIndex = from;
  for (let count = 0, at = from; ; at = ATTRIBUTE.lastIndex) {
    if (!ATTRIBUTE.test(source)) return endOf(source, '>', at) - 1;
    if (++count > ATTRIBUTES_MAX)
      throw tooLarge(`Send pages whose elements have at most ${ATTRIBUTES_MAX} attributes.`, {
        limit_attributes: ATTRIBUTES_MAX,
      });
  }
}

function endOfRaw(source: string, name: string, from: number): number {
  const end = new RegExp(`</${name}`, 'gi');
  end.lastIndex = from;
  return end.exec(source)?.index ?? source.length;
}

/** The place behind the mark; the end of the text without one. */
function endOf(source: string, mark: string, from: number): number {
  const at = source.indexOf(mark, from);
  return at < 0 ? source.length : at + mark.length;
}
