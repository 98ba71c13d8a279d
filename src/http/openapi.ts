import { type TSchema, Type } from '@sinclair/typebox';
import type { Operation, Route } from './route.ts';
import { COMPONENTS } from './schemas.ts';

/** Version of the published interface, as the contract says. */
const INTERFACE_VERSION = '1.0.0';

type Json = { readonly [key: string]: unknown };

const STATUS_TEXT: Readonly<Record<number, string>> = {
  400: 'Malformed, or a field with a wrong type or value. Nothing is charged.',
  401: 'Unknown workspace, or a wrong, missing, expired or foreign token: always the same answer.',
  404: 'Not found, or not yours.',
  408: 'The body did not arrive in time.',
  409: 'In conflict with an earlier request.',
  413: 'Over a limit; the limit is named.',
  415: 'A file type that cannot be read; `readable` lists those that can.',
  422: 'Understood but impossible: `file_empty`, `file_corrupt`, `file_encrypted`, `preview_unavailable`, `spend_limit_exceeded`, `ttl_limit_exceeded`.',
  429: 'Too many requests; `Retry-After` says when to try again.',
  500: 'A fault of the server. Nothing is charged.',
  503: 'Not now; `Retry-After` says when to try again. Nothing is charged.',
  507: 'The disk of the server is full. Nothing was stored or charged.',
};

const PAYMENT_HEADERS: Json[] = [
  {
    name: 'X-PAYMENT',
    in: 'header',
    required: false,
    schema: { type: 'string' },
    description: 'x402 v1 payment: base64 of JSON. Without a payment the answer is 402.',
  },
  {
    name: 'PAYMENT-SIGNATURE',
    in: 'header',
    required: false,
    schema: { type: 'string' },
    description: 'x402 v2 payment: base64 of JSON. It wins over X-PAYMENT.',
  },
  {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    schema: { type: 'string', minLength: 16, maxLength: 128 },
    description: 'Your private key of this request: the same key gives the same answer again, uncharged.',
  },
];

const RECEIPT_HEADERS: Json = {
  'X-PAYMENT-RESPONSE': {
    schema: { type: 'string' },
    description: 'Base64 settlement receipt; absent when nothing was charged.',
  },
  'PAYMENT-RESPONSE': { schema: { type: 'string' }, description: 'The same for v2 clients.' },
};

const WORKSPACE_HEADERS: Json = {
  'X-Workspace-TTL-Seconds': { schema: { type: 'string' }, description: 'Seconds of rented time left.' },
  'X-Workspace-Spend-Remaining-USD': {
    schema: { type: 'string' },
    description: 'What the spend limit leaves, where there is one.',
  },
};

/** The OpenAPI 3.1.0 description, from the same routes and schemas that serve the requests. */
export function describeApi(routes: readonly Route[], baseUrl: string, notes: string): Json {
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
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    tags: [{ name: 'Per request' }, { name: 'Workspaces' }, { name: 'Service' }],
    paths,
    components: {
      schemas: Object.fromEntries(COMPONENTS.map((schema) => [schema.$id!, plain(schema)])),
      securitySchemes: {
        capabilityToken: { type: 'http', scheme: 'bearer', description: 'The workspace’s capability token.' },
      },
    },
  };
}

function describeOperation(path: string, operation: Operation): Json {
  const { operationId, summary, tag, security, success } = operation;
  return {
    operationId,
    summary,
    tags: [tag],
    security: security === 'token' ? [{ capabilityToken: [] }] : [],
    ...(operation.price && { 'x-payment-info': paymentInfo(operation.price) }),
    parameters: [
      ...pathParameters(path),
      ...(security === 'payment' ? PAYMENT_HEADERS : []),
      ...extraParameters(operation),
    ],
    ...(operation.requestBody && { requestBody: requestBody(operation.requestBody) }),
    responses: {
      [success.status]: {
        description: success.description,
        ...(security && { headers: security === 'payment' ? RECEIPT_HEADERS : WORKSPACE_HEADERS }),
        ...(success.schema && { content: { 'application/json': { schema: reference(success.schema) } } }),
        ...(success.file && {
          content: {
            [success.file === true ? '*/*' : success.file]: { schema: { type: 'string', format: 'binary' } },
          },
        }),
      },
      ...errorResponses(operation),
    },
  };
}

function errorResponses({ security, errors }: Operation): Json {
  const statuses = new Set([
    ...errors,
    ...(security === 'token' ? [401] : []),
    ...(security === 'payment' ? [409] : []),
  ]);
  const responses: Record<string, Json> = {};
  if (security === 'payment') {
    responses[402] = {
      description: 'Payment required: what to pay. Also for a payment that is refused; `error` says why.',
      headers: {
        'PAYMENT-REQUIRED': { schema: { type: 'string' }, description: 'The same for v2 clients, base64.' },
      },
      content: { 'application/json': { schema: { $ref: '#/components/schemas/PaymentRequired' } } },
    };
  }
  for (const status of [...statuses].sort()) {
    responses[status] = {
      description: STATUS_TEXT[status] ?? 'An error.',
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    };
  }
  return responses;
}

function paymentInfo(price: NonNullable<Operation['price']>): Json {
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

function extraParameters({ parameters = [], requestBody }: Operation): Json[] {
  const wait: Json = {
    name: 'Prefer',
    in: 'header',
    required: false,
    schema: { type: 'string', examples: ['wait=20'] },
    description: '`wait=SECONDS`: answer when the job has ended, or after so many seconds.',
  };
  const declared = parameters.map(({ schema, ...rest }) => ({
    ...rest,
    required: false,
    schema: plain(schema),
  }));
  return requestBody === 'upload' ? [...declared, wait] : declared;
}

function requestBody(body: NonNullable<Operation['requestBody']>): Json {
  if (body !== 'upload') {
    return { required: body.required, content: { 'application/json': { schema: reference(body.schema) } } };
  }
  const file = Type.Object({
    file: Type.Unsafe({ type: 'string', contentMediaType: 'application/octet-stream' }),
  });
  return {
    required: true,
    description: 'Multipart field `file`; a raw body with its Content-Type is accepted too.',
    content: {
      'multipart/form-data': { schema: plain(file) },
      'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
    },
  };
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
