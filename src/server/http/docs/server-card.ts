import type { ServerCard } from '@farthing/protocol/schema/service';
import { VERSION } from '@farthing/protocol/version';

/**
 * Name and address of this MCP server, for clients that have not connected yet. The shape is that of the draft SEP-2127
 * (`name` to `remotes`), with the members `serverInfo` and `transport` that readers of the earlier SEP-1649 look for.
 */
export function serverCard(baseUrl: string, description: string): ServerCard {
  const url = `${baseUrl}/mcp`;
  return {
    name: `${reversed(new URL(baseUrl).hostname)}/farthing`,
    version: VERSION,
    title: 'Farthing',
    description,
    websiteUrl: baseUrl,
    remotes: [{ type: 'streamable-http', url }],
    serverInfo: { name: 'farthing', title: 'Farthing', version: VERSION },
    transport: { type: 'streamable-http', endpoint: url },
  };
}

/** `search.example.org` as the reverse-DNS name space that MCP wants; an address is no domain. */
function reversed(hostname: string): string {
  return /[a-z]/.test(hostname) && !hostname.startsWith('[')
    ? hostname.split('.').reverse().join('.')
    : 'local';
}
