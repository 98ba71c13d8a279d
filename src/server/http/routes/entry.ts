import { AgentCardSchema, PaidResourcesSchema, ServerCardSchema } from '@farthing/protocol/schema/service';
import type { Services } from '../access/services.ts';
import { agentCard } from '../docs/agent-card.ts';
import { guidance, llmsTxt } from '../docs/agent-guide.ts';
import { dayOf, isSecurityContact, securityTxt } from '../docs/security-txt.ts';
import { serverCard } from '../docs/server-card.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Route } from '../exchange/route.ts';
import { keptText } from '../pages/asset.ts';
import { pageOf } from '../pages/console.ts';

interface EntryOptions {
  /** Every route of the server; called once all are made. */
  readonly routes: () => readonly Route[];
  /** Folder of the built console; undefined: it is disabled. */
  readonly consoleFolder: string | undefined;
}

/** Leads programs from `/` to what they can read (RFC 8288, 8631). */
const LINKS = [
  '</llms.txt>; rel="alternate"; type="text/plain"',
  '</openapi.json>; rel="service-desc"; type="application/json"',
  '</agents.md>; rel="service-doc"; type="text/markdown"',
  '</.well-known/mcp/server-card.json>; rel="mcp-server-card"; type="application/json"',
].join(', ');
const TEXT = 'text/plain; charset=utf-8';
const KEPT = { 'Cache-Control': 'public, max-age=60' };

const ROBOTS = `# Agents: /llms.txt, /agents.md and /openapi.json say what is here and what it costs.
User-agent: *
Disallow: /agent/
Disallow: /mcp
`;

/** Entry points for clients that know only the address: `/`, and what browsers, crawlers and catalogues look for. */
export function entryRoutes(services: Services, { routes, consoleFolder }: EntryOptions): Route[] {
  const {
    baseUrl,
    terms: { name, contact },
  } = services;
  const dependsOn = baseUrl;
  const page = consoleFolder === undefined ? undefined : pageOf(consoleFolder, 'index.html');
  const text = keptText(TEXT, KEPT, { dependsOn, make: () => llmsTxt(services) });
  const paid = () => routes().filter(({ operation }) => operation?.price !== undefined);
  const card = keptText('application/json', KEPT, {
    dependsOn,
    make: () => JSON.stringify(serverCard(baseUrl(), guidance(services))),
  });
  const serverCardRoute = (path: string, operationId: string): Route => ({
    method: 'GET',
    path,
    operation: {
      operationId,
      summary: 'What the MCP server here is',
      tag: 'Service',
      success: { status: 200, description: 'The card.', schema: ServerCardSchema, kept: true },
      errors: [],
    },
    handle: card,
  });
  const paidResources = () => ({
    version: 1,
    resources: paid().map(({ path }) => baseUrl() + path),
    instructions: guidance(services),
  });
  return [
    {
      method: 'GET',
      path: '/',
      handle: (exchange) => {
        const reply = page && isBrowser(exchange) ? page(exchange) : text(exchange);
        return { ...reply, headers: { ...reply.headers, Link: LINKS, Vary: 'Accept, Accept-Encoding' } };
      },
    },
    {
      method: 'GET',
      path: '/robots.txt',
      handle: keptText(TEXT, KEPT, { dependsOn, make: () => ROBOTS }),
    },
    {
      method: 'GET',
      path: '/.well-known/x402',
      operation: {
        operationId: 'paidResources',
        summary: 'What is paid for here',
        tag: 'Service',
        success: {
          status: 200,
          description: 'Addresses of the paid operations.',
          schema: PaidResourcesSchema,
          kept: true,
        },
        errors: [],
      },
      handle: keptText('application/json', KEPT, { dependsOn, make: () => JSON.stringify(paidResources()) }),
    },
    serverCardRoute('/.well-known/mcp/server-card.json', 'serverCard'),
    serverCardRoute('/.well-known/mcp.json', 'mcpServer'),
    {
      method: 'GET',
      path: '/.well-known/agent-card.json',
      operation: {
        operationId: 'agentCard',
        summary: 'What can be bought here',
        tag: 'Service',
        success: { status: 200, description: 'The card.', schema: AgentCardSchema, kept: true },
        errors: [],
      },
      handle: keptText('application/json', KEPT, {
        dependsOn,
        make: () => JSON.stringify(agentCard(baseUrl(), { name, description: guidance(services) }, paid())),
      }),
    },
    ...(isSecurityContact(contact) ? [securityRoute(baseUrl, contact)] : []),
  ];
}

/** Not described: it is for people, and the same for every server. */
function securityRoute(baseUrl: () => string, contact: string): Route {
  return {
    method: 'GET',
    path: '/.well-known/security.txt',
    handle: keptText(TEXT, KEPT, {
      dependsOn: () => `${dayOf(Date.now())} ${baseUrl()}`,
      make: () => securityTxt(baseUrl(), contact, Date.now()),
    }),
  };
}

/** Browsers name HTML; libraries and curl take anything. */
function isBrowser(exchange: Exchange): boolean {
  return /\btext\/html\b/.test(exchange.header('accept') ?? '');
}
