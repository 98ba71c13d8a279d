import {
  DescriptionSchema,
  DidDocumentSchema,
  HealthSchema,
  JwksSchema,
  ReadinessSchema,
} from '@farthing/protocol/schema/service';
import type { PublicKey, Services } from '../access/services.ts';
import { agentGuide, llmsTxt } from '../docs/agent-guide.ts';
import type { Route } from '../exchange/route.ts';
import { keptText } from '../pages/asset.ts';
import { didOf } from '../pages/did.ts';

const KEPT_HEADERS = { 'Cache-Control': 'public, max-age=60' };

/**
 * Routes that describe the server itself. They cost nothing. Its texts, `description` among them, are made once for each
 * public address and each text of `notes`.
 */
export function serviceRoutes(
  services: Services,
  { notes, description }: { readonly notes: () => string; readonly description: () => object },
): Route[] {
  const { readiness, jwks, baseUrl } = services;
  const dependsOn = () => `${baseUrl()}\n${notes()}`;
  const text = (type: string, make: () => string) => keptText(type, KEPT_HEADERS, { dependsOn, make });
  const json = (status: number, body: object) => ({
    status,
    headers: { 'Cache-Control': 'no-store' },
    body: { ...body },
  });
  return [
    {
      method: 'GET',
      path: '/openapi.json',
      operation: {
        operationId: 'description',
        summary: 'This description',
        tag: 'Service',
        success: { status: 200, description: 'OpenAPI 3.1.', schema: DescriptionSchema, kept: true },
        errors: [],
      },
      handle: text('application/json', () => JSON.stringify(description())),
    },
    {
      method: 'GET',
      path: '/llms.txt',
      operation: {
        operationId: 'llmsTxt',
        summary: 'What this server is, for language models',
        tag: 'Service',
        success: { status: 200, description: 'Markdown after llmstxt.org.', text: 'text/plain', kept: true },
        errors: [],
      },
      handle: text('text/plain; charset=utf-8', () => llmsTxt(services)),
    },
    {
      method: 'GET',
      path: '/agents.md',
      operation: {
        operationId: 'agentGuide',
        summary: 'A short guide for agents',
        tag: 'Service',
        success: { status: 200, description: 'Markdown.', text: 'text/markdown', kept: true },
        errors: [],
      },
      handle: text('text/markdown; charset=utf-8', () => agentGuide(services)),
    },
    {
      method: 'GET',
      path: '/healthz',
      operation: {
        operationId: 'health',
        summary: 'Whether the process answers',
        tag: 'Service',
        success: { status: 200, description: 'It does.', schema: HealthSchema },
        errors: [],
      },
      handle: () => json(200, { status: 'ok' }),
    },
    {
      method: 'GET',
      path: '/readyz',
      operation: {
        operationId: 'ready',
        summary: 'Families, models, providers, facilitator',
        tag: 'Service',
        success: { status: 200, description: 'Ready to serve.', schema: ReadinessSchema },
        also: [
          {
            status: 503,
            description: 'Not ready: it starts, stops, or cannot serve.',
            schema: ReadinessSchema,
          },
        ],
        errors: [],
      },
      handle: () => {
        const { ready, body } = readiness();
        return json(ready ? 200 : 503, { ready, ...body });
      },
    },
    {
      method: 'GET',
      path: '/.well-known/jwks.json',
      operation: {
        operationId: 'keys',
        summary: 'Public keys of the disposal receipts',
        tag: 'Service',
        success: { status: 200, description: 'JSON Web Key Set.', schema: JwksSchema },
        errors: [],
      },
      handle: async () => ({
        status: 200,
        headers: { 'Cache-Control': 'public, max-age=300' },
        body: { ...(await jwks()) },
      }),
    },
    {
      method: 'GET',
      path: '/.well-known/did.json',
      operation: {
        operationId: 'didDocument',
        summary: 'The same keys, for signed receipts of payments',
        tag: 'Service',
        success: { status: 200, description: 'DID document.', schema: DidDocumentSchema },
        errors: [],
      },
      handle: async () => ({
        status: 200,
        headers: { 'Cache-Control': 'public, max-age=300' },
        body: didDocument(didOf(baseUrl()), (await jwks()).keys),
      }),
    },
  ];
}

/** Every key that ever signed: a receipt outlives its key. */
function didDocument(id: string, keys: readonly PublicKey[]): Record<string, unknown> {
  const methods = keys.map((key) => ({
    id: `${id}#${key.kid}`,
    type: 'JsonWebKey2020',
    controller: id,
    publicKeyJwk: key,
  }));
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/jws-2020/v1'],
    id,
    verificationMethod: methods,
    assertionMethod: methods.map((method) => method.id),
  };
}
