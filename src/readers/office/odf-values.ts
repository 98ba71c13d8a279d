type Attributes = Readonly<Record<string, string>>;

/**
 * What a cell of a spreadsheet holds (OpenDocument part 3, 19.385), for cells without a text: programs that write no text leave it to
 * others to show the value. Undefined: it is empty. Names are those of the attributes without a prefix.
 */
export function cellValue(attributes: Attributes): string | undefined {
  const { value = '' } = attributes;
  switch (attributes['value-type']) {
    case 'float':
      return value;
    case 'percentage':
      return `${Number((Number(value) * 100).toPrecision(12))}%`;
    case 'currency':
      return `${value} ${attributes.currency ?? ''}`.trim();
    case 'date':
      return attributes['date-value'];
    case 'time':
      return spelt(attributes['time-value'] ?? '');
    case 'boolean':
      return attributes['boolean-value'];
    case 'string':
      return attributes['string-value'];
    default:
      return undefined;
  }
}

/** A duration of XML Schema, "PT13H05M00S", as a time: "13:05:00". */
function spelt(duration: string): string {
  const [, hours, minutes = '0', seconds = '0'] =
    /^PT(\d{1,9})H(?:(\d{1,2})M)?(?:(\d{1,2})(?:[.,]\d+)?S)?$/.exec(duration) ?? [];
  if (hours === undefined) return duration;
  return [hours, minutes, seconds].map((part) => part.padStart(2, '0')).join(':');
}
