/** The server's name as a decentralised identifier, under which its keys are found (W3C, "did:web Method Specification"). @param baseUrl its public address */
export function didOf(baseUrl: string): string {
  return `did:web:${new URL(baseUrl).host.replace(':', '%3A')}`;
}
