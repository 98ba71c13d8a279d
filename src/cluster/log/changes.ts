/** The change that one transaction made to one row. */
export interface Change {
  readonly table: string;
  readonly key: string;
  /** Encoded value in LMDB; undefined: removed. */
  readonly value: Uint8Array | undefined;
}

const FORMAT = 1;
const NO_VALUE = 2 ** 32 - 1;

/**
 * Changes as bytes: a format byte, then for each change the lengths of table (8 bits), key (16) and value (32, all ones for a removal),
 * and these themselves; numbers are little-endian.
 */
export function encodeChanges(changes: readonly Change[]): Uint8Array {
  const parts: Uint8Array[] = [Uint8Array.of(FORMAT)];
  for (const { table, key, value } of changes) {
    const [tableBytes, keyBytes] = [Buffer.from(table), Buffer.from(key)];
    const head = Buffer.alloc(7);
    head.writeUInt8(tableBytes.length, 0);
    head.writeUInt16LE(keyBytes.length, 1);
    head.writeUInt32LE(value?.length ?? NO_VALUE, 3);
    parts.push(head, tableBytes, keyBytes, ...(value ? [value] : []));
  }
  return Buffer.concat(parts);
}

/** @throws Error for bytes that `encodeChanges` did not make */
export function decodeChanges(bytes: Uint8Array): Change[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const take = (length: number): Buffer => {
    const part = buffer.subarray(at, at + length);
    if (part.length < length) throw new Error(`a change ends at byte ${buffer.length} of its entry`);
    at += length;
    return part;
  };
  const format = take(1).readUInt8();
  if (format !== FORMAT) throw new Error(`changes of format ${format} need a newer Farthing`);
  const changes: Change[] = [];
  while (at < buffer.length) {
    const head = take(7);
    const valueBytes = head.readUInt32LE(3);
    changes.push({
      table: take(head.readUInt8(0)).toString(),
      key: take(head.readUInt16LE(1)).toString(),
      value: valueBytes === NO_VALUE ? undefined : take(valueBytes),
    });
  }
  return changes;
}
