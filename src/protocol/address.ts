/** 0x-prefixed, 20 bytes, lower case: addresses are compared by value. */
export type Address = `0x${string}`;
