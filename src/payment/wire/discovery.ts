import type { Discovery } from '../purchase.ts';

/** Declaration for the public catalogues: the `bazaar` extension (v2) and `outputSchema` (v1). */
export interface DiscoveryDeclaration {
  readonly bazaar: Readonly<Record<string, unknown>>;
  readonly outputSchema: Readonly<Record<string, unknown>>;
}

const declarations = new WeakMap<Discovery, DiscoveryDeclaration>();

/** The catalogue's view of a route; made once for each route's `Discovery` object. */
export function declareDiscovery(discovery: Discovery): DiscoveryDeclaration {
  let declaration = declarations.get(discovery);
  if (!declaration) {
    declaration = { bazaar: bazaar(discovery), outputSchema: outputSchema(discovery) };
    declarations.set(discovery, declaration);
  }
  return declaration;
}

/** `schema` describes `info`, not the request's body: catalogues validate the one with the other. */
function bazaar({
  method,
  routeTemplate,
  bodyType,
  bodyFields,
  bodyExample,
  pathParams,
  pathExample,
  queryParams,
  outputExample,
}: Discovery) {
  const input = {
    ...(bodyType && { bodyType, body: bodyExample ?? {} }),
    ...(pathExample && { pathParams: pathExample }),
    ...(queryParams && { queryParams: {} }),
  };
  const inputProperties = {
    type: { type: 'string', const: 'http' },
    method: { type: 'string', enum: [method] },
    ...(bodyType && {
      bodyType: { type: 'string', enum: [bodyType] },
      body: { type: 'object', description: 'Exactly: /openapi.json', properties: bodyFields ?? {} },
    }),
    ...(pathParams && {
      pathParams: { type: 'object', properties: pathParams, required: Object.keys(pathParams) },
    }),
    ...(queryParams && { queryParams: { type: 'object', properties: queryParams } }),
  };
  return {
    info: {
      input: { type: 'http', method, ...input },
      output: { type: 'json', example: outputExample },
    },
    routeTemplate,
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        input: {
          type: 'object',
          properties: inputProperties,
          required: bodyType ? ['type', 'method', 'bodyType', 'body'] : ['type', 'method'],
          additionalProperties: false,
        },
        output: {
          type: 'object',
          properties: { type: { type: 'string' }, example: { type: 'object' } },
          required: ['type'],
        },
      },
      required: ['input'],
    },
  };
}

function outputSchema({
  method,
  bodyType,
  bodyFields,
  pathParams,
  queryParams,
  outputSchema: output,
}: Discovery) {
  return {
    input: {
      type: 'http',
      method,
      discoverable: true,
      ...(bodyType && {
        bodyType: bodyType === 'form-data' ? 'multipart-form-data' : bodyType,
        bodyFields: bodyFields ?? {},
      }),
      ...(pathParams && { pathParams }),
      ...(queryParams && { queryParams }),
    },
    output,
  };
}
