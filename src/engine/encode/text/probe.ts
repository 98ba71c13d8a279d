/** A text of about a query's length: warms a model up, and shows whether a GPU has the processor's numbers. */
export const PROBE_TEXT = 'How does a warm current change the weather over an island in winter?';
