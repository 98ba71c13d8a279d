import { ERRORS } from '@farthing/protocol/error';
import type { ShownPrice } from '@farthing/protocol/money';
import { COMPONENTS } from '@farthing/protocol/schema/components';
import { READABLE_NAMES } from '@farthing/readers/formats';
import { type TSchema, Type } from '@sinclair/typebox';
import type { Operation, OperationError, Route } from '../exchange/route.ts';
import {
  FILE,
  HEADERS,
  type HeaderName,
  headersOf,
  KEPT,
  KNOWN_PARAMETER,
  PAYMENT_PARAMETERS,
  RANGE_PARAMETER,
  RANGED,
  RECEIPT,
  TIME_LEFT,
  WAIT_PARAMETER,
} from './openapi-headers.ts';
import { LABEL_FIELDS, LABEL_PARAMETERS } from './openapi-labels.ts';
import { DESCRIPTIONS } from './operation-descriptions.ts';

/** Version of the published interface. */
const INTERFACE_VERSION = '1.0.0';

type Json = { readonly [key: string]: unknown };

/** Any route may be sent an ambiguous head, and may fail. */
const ANYWHERE: readonly OperationError[] = [400, 500];
/** Any body may come too slowly. */
const OF_BODY: readonly OperationError[] = [408, 503];
const OF_SECURITY = {
  payment: [409, 429, 503],
  token: [401, 429, 503],
  key: [401, 429, 503],
} as const;

const STATUS_TEXT: Readonly<Record<OperationError, string>> = {
  400: 'Malformed, or a field with a wrong type or value. Nothing is charged.',
  401: 'Unknown workspace, or a wrong, missing, expired or foreign token: always the same answer.',
  403: 'The key of the house does not have the right for it. Nothing that is paid or rented is answered so.',
  404: 'Not found, or not yours.',
  408: 'The body came too slowly. Nothing is charged.',
  409: 'In conflict with an earlier request.',
  412: 'The item with the key is not the one that was expected. Nothing is charged.',
  413: 'Over a limit; the limit is named.',
  415: 'A file type that cannot be read; `readable` lists those that can.',
  422: 'Understood but impossible. Nothing is charged.',
  429: 'Too many requests; `Retry-After` says when to try again.',
  500: 'A fault of the server. Nothing is charged.',
  503: 'Not now; `Retry-After` says when to try again. Nothing is charged, unless by the settlement of `settlement_pending`.',
  507: 'The disk of the server is full. Nothing was stored or charged.',
};

/** Facts of the description besides its routes. */
export interface ApiFacts {
  readonly baseUrl: string;
  /** Added to the description: what is unavailable now. */
  readonly notes: string;
  /** How to use the server, in some sentences. */
  readonly guidance: string;
  /** Mail address or web page of the operator; empty: not shown. */
  readonly contact: string;
}

/** The OpenAPI 3.1.0 description, made from the routes and schemas that serve the requests. */
export function describeApi(routes: readonly Route[], { baseUrl, notes, guidance, contact }: ApiFacts): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    if (!route.operation) continue;
    paths[route.path] ??= {};
    paths[route.path]![route.method.toLowerCase()] = describeOperation(route.path, route.operation);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Farthing Agent API',
      version: INTERFACE_VERSION,
      description: `Semantic, exact-word and picture search over your own files, paid by the request (x402) or by the minute.${notes}`,
      contact: { name: 'The operator of this server', ...contactOf(contact, baseUrl) },
      'x-guidance': guidance,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    externalDocs: { url: `${baseUrl}/agents.md`, description: 'A short guide for agents.' },
    tags: [
      {
        name: 'Per request',
        description: 'Each call is paid by itself, into and from the payer’s own index.',
      },
      { name: 'Workspaces', description: 'Rented by the minute; a token opens one of them.' },
      ...(hasHouse(routes)
        ? [{ name: 'House', description: 'For agents of the operator alone, by a key; nothing is paid.' }]
        : []),
      { name: 'Service', description: 'What the server says about itself; free.' },
    ],
    paths,
    components: {
      headers: HEADERS,
      schemas: Object.fromEntries(
        COMPONENTS.map((schema) => [
          schema.$id!,
          isBody(schema, routes) ? withNull(plain(schema)) : plain(schema),
        ]),
      ),
      securitySchemes: {
        // Catalogues know a token by this name, whatever its type.
        apiKey: { type: 'http', scheme: 'bearer', description: 'The workspace’s capability token.' },
        ...(hasHouse(routes) && {
          houseKey: { type: 'http', scheme: 'bearer', description: 'A key of the operator’s own agents.' },
        }),
      },
    },
  };
}

function hasHouse(routes: readonly Route[]): boolean {
  return routes.some(({ operation }) => operation?.security === 'key');
}

function contactOf(contact: string, baseUrl: string): Json {
  return contact.includes('@') ? { email: contact } : { url: contact || `${baseUrl}/llms.txt` };
}

function describeOperation(path: string, operation: Operation): Json {
  const { operationId, summary, tag, security, price, requestBody } = operation;
  return {
    operationId,
    summary,
    description: DESCRIPTIONS[operationId],
    tags: [tag],
    security: security === 'token' ? [{ apiKey: [] }] : security === 'key' ? [{ houseKey: [] }] : [],
    ...(price && { 'x-payment-info': paymentInfo(price) }),
    parameters: [
      ...pathParameters(path),
      ...(security === 'payment' ? PAYMENT_PARAMETERS : []),
      ...extraParameters(operation),
    ],
    ...(requestBody && { requestBody: requestBodyOf(requestBody) }),
    responses: {
      ...successOf(operation),
      ...unchanged(operation),
      ...otherAnswers(operation),
      ...errorsOf(operation),
    },
  };
}

function successOf({ security, success, requestBody }: Operation): Json {
  const { status, description, schema, example, file, text, kept, ranged } = success;
  const headers: HeaderName[] = [
    ...(security === 'payment' ? RECEIPT : []),
    ...(security === 'payment' || security === 'token' ? TIME_LEFT : []),
    ...(requestBody === 'upload' ? (['Preference-Applied'] as const) : []),
    ...(file ? FILE : []),
    ...(kept ? KEPT : []),
    ...(ranged ? RANGED : []),
  ];
  const content = schema
    ? { 'application/json': { schema: reference(schema), ...(example !== undefined && { example }) } }
    : file
      ? { [file === true ? '*/*' : file]: { schema: { type: 'string', format: 'binary' } } }
      : { [text ?? 'text/plain']: { schema: { type: 'string' } } };
  const whole = { [status]: { description, headers: headersOf(headers), content } };
  if (!ranged) return whole;
  return {
    ...whole,
    206: { description: 'The part.', headers: headersOf([...headers, 'Content-Range']), content },
    304: { description: 'The client has it already.', headers: headersOf(headers) },
  };
}

function unchanged({ success }: Operation): Json {
  if (!success.kept) return {};
  return { 304: { description: 'The client has it already.', headers: headersOf(['ETag']) } };
}

function otherAnswers({ also = [] }: Operation): Json {
  return Object.fromEntries(
    also.map(({ status, description, schema }) => [
      status,
      {
        description,
        headers: headersOf([]),
        ...(schema && { content: { 'application/json': { schema: reference(schema) } } }),
      },
    ]),
  );
}

function errorsOf({ security, errors, requestBody, also = [] }: Operation): Json {
  const statuses = new Set<OperationError>([
    ...ANYWHERE,
    ...(requestBody ? OF_BODY : []),
    ...errors,
    ...(security ? OF_SECURITY[security] : []),
  ]);
  const responses: Record<string, Json> = {};
  if (security === 'payment') {
    responses[402] = {
      description: 'Payment required: what to pay. Also for a payment that is refused; `error` says why.',
      headers: headersOf(['PAYMENT-REQUIRED', 'X-Prepaid-Left-USD', ...RECEIPT]),
      content: { 'application/json': { schema: { $ref: '#/components/schemas/PaymentRequired' } } },
    };
  }
  for (const status of [...statuses].sort()) {
    const headers: HeaderName[] = [
      ...(security === 'token' && status !== 401 ? TIME_LEFT : []),
      ...(status === 401 ? (['WWW-Authenticate'] as const) : []),
      ...(status === 429 || status === 503 ? (['Retry-After'] as const) : []),
    ];
    const other = also.find((response) => response.status === status);
    responses[status] = {
      description: other ? `${other.description} ${describeStatus(status)}` : describeStatus(status),
      headers: headersOf(headers),
      content: {
        'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
        ...(other?.schema && { 'application/json': { schema: reference(other.schema) } }),
      },
    };
  }
  return responses;
}

/** The meaning of a status, and its codes. */
function describeStatus(status: OperationError): string {
  const codes = Object.entries(ERRORS)
    .filter(([, [of]]) => of === status)
    .map(([code]) => `\`${code}\``);
  return `${STATUS_TEXT[status]} Codes: ${codes.join(', ')}.`;
}

function paymentInfo(price: ShownPrice): Json {
  const amount =
    'usd' in price
      ? { mode: 'fixed', currency: 'USD', amount: price.usd }
      : {
          mode: 'dynamic',
          currency: 'USD',
          min: price.minUsd,
          max: price.maxUsd,
          description: price.dynamic,
        };
  return { price: amount, protocols: [{ x402: {} }] };
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function extraParameters({ parameters = [], requestBody, success }: Operation): Json[] {
  const declared = parameters.map(({ schema, ...rest }) => ({
    ...rest,
    required: false,
    schema: plain(schema),
  }));
  return [
    ...declared,
    ...(requestBody === 'upload' ? [WAIT_PARAMETER, ...LABEL_PARAMETERS] : []),
    ...(success.kept || success.ranged ? [KNOWN_PARAMETER] : []),
    ...(success.ranged ? [RANGE_PARAMETER] : []),
  ];
}

function requestBodyOf(body: NonNullable<Operation['requestBody']>): Json {
  if (body !== 'upload') {
    const { required, schema, example } = body;
    return { required, content: { 'application/json': { schema: reference(schema), example } } };
  }
  // Not OpenAPI 3.1's own `contentMediaType`: generators of clients know a file by its format.
  const file = Type.Object({ file: Type.Unsafe({ type: 'string', format: 'binary' }), ...LABEL_FIELDS });
  const example = 'The lighthouse keeper counts gulls at dawn.';
  return {
    required: true,
    description: `Multipart field \`file\`; a raw body with its Content-Type is accepted too. Formats, recognised by content: ${READABLE_NAMES}.`,
    content: {
      'multipart/form-data': { schema: plain(file), example: { file: example } },
      'application/octet-stream': { schema: { type: 'string', format: 'binary' }, example },
    },
  };
}

function isBody(schema: TSchema, routes: readonly Route[]): boolean {
  // MCP has a protocol of its own.
  return routes.some(
    ({ operation }) =>
      typeof operation?.requestBody === 'object' &&
      operation.requestBody.schema === schema &&
      operation.operationId !== 'mcp',
  );
}

/** In a body `null` means absent. */
function withNull(schema: Json): Json {
  const { properties, required = [] } = schema as { properties: Record<string, Json>; required?: string[] };
  const nullable = Object.entries(properties).map(([name, { type, ...rest }]) => [
    name,
    required.includes(name)
      ? { type, ...rest }
      : type === undefined
        ? { anyOf: [rest, { type: 'null' }] }
        : { type: [type, 'null'], ...rest },
  ]);
  return { ...schema, properties: Object.fromEntries(nullable) };
}

function reference(schema: TSchema): Json {
  return schema.$id ? { $ref: `#/components/schemas/${schema.$id}` } : plain(schema);
}

/** A TypeBox schema as plain JSON Schema, its references pointing into the description. */
function plain(schema: TSchema): Json {
  return JSON.parse(
    JSON.stringify(schema, (key, value) => {
      if (key === '$id') return undefined;
      if (key === '$ref') return `#/components/schemas/${value}`;
      return value;
    }),
  );
}
