import type { AgentCard } from '@farthing/protocol/schema/service';
import { VERSION } from '@farthing/protocol/version';
import { LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/sdk/types.js';
import type { Route } from '../exchange/route.ts';
import { DESCRIPTIONS } from './operation-descriptions.ts';

/** Versions of the bindings, as their own documents have them. */
const X402_VERSION = '2';

/**
 * The paid services, for agents that look for other agents (Agent2Agent 1.0, "Agent Card"). Agent2Agent itself is not spoken: the
 * interfaces have bindings of their own, which that specification allows as URIs.
 * @param paid the paid routes
 */
export function agentCard(
  baseUrl: string,
  { name, description }: { readonly name: string; readonly description: string },
  paid: readonly Route[],
): AgentCard {
  const skill = ({ operation }: Route) => {
    const { operationId, summary, tag } = operation!;
    return { id: operationId, name: summary, description: DESCRIPTIONS[operationId] ?? summary, tags: [tag] };
  };
  return {
    name,
    description,
    version: VERSION,
    documentationUrl: `${baseUrl}/agents.md`,
    supportedInterfaces: [
      {
        url: `${baseUrl}/mcp`,
        protocolBinding: 'https://modelcontextprotocol.io',
        protocolVersion: LATEST_PROTOCOL_VERSION,
      },
      { url: baseUrl, protocolBinding: 'https://www.x402.org', protocolVersion: X402_VERSION },
    ],
    capabilities: { streaming: false, pushNotifications: false },
    defaultInputModes: ['application/json', 'multipart/form-data'],
    defaultOutputModes: ['application/json'],
    skills: paid.map(skill),
  };
}
