/** How a query with slips was understood, for people and models. */
export function correctedText(corrected: string): string {
  return `Understood as: ${corrected}`;
}
