const DAY_MS = 86_400_000;
/** RFC 9116 recommends less than a year. */
const VALID_DAYS = 180;

/** Whether RFC 9116 takes it as a contact: a mail address, or a page over HTTPS. */
export const isSecurityContact = (contact: string): boolean =>
  contact.includes('@') || contact.startsWith('https://');

/** Contact for security reports (RFC 9116). @param now epoch ms; the text holds for its day */
export function securityTxt(baseUrl: string, contact: string, now: number): string {
  const until = new Date((dayOf(now) + VALID_DAYS) * DAY_MS).toISOString();
  return [
    `Contact: ${contact.includes('@') ? `mailto:${contact}` : contact}`,
    `Expires: ${until}`,
    `Canonical: ${baseUrl}/.well-known/security.txt`,
    '',
  ].join('\n');
}

/** Days since the epoch. */
export const dayOf = (now: number): number => Math.floor(now / DAY_MS);
