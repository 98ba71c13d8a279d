import { Type } from '@sinclair/typebox';
import { ERRORS, type ErrorCode } from '../error.ts';
import { Details, described, FamilySchema, OneOf, type Shape } from './fields.ts';

export const PaymentRequiredSchema = Type.Object(
  {
    x402Version: Type.Integer(),
    error: Type.String(),
    resource: Type.String(),
    description: Type.String(),
    help: Type.Optional(
      Type.String({
        description:
          'Which clients can pay, and where it says how; of a payment that was refused, what is wrong with it.',
      }),
    ),
    accepts: Type.Array(
      Type.Object(
        {
          scheme: Type.String(),
          network: Type.String(),
          payTo: Type.String(),
          maxAmountRequired: Type.String({ description: 'In the smallest unit of the asset.' }),
          resource: Type.String(),
          description: Type.String(),
          mimeType: Type.String(),
          outputSchema: Type.Record(Type.String(), Type.Unknown(), described('Shapes, for catalogues.')),
          maxTimeoutSeconds: Type.Integer({ description: 'How long a signed payment may wait.' }),
          asset: Type.String({ description: 'Contract of the asset.' }),
          extra: Type.Record(Type.String(), Type.Unknown(), described('EIP-712 domain of the asset.')),
        },
        described('One way to pay.'),
      ),
    ),
  },
  { $id: 'PaymentRequired' },
);

export const ProblemSchema = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    code: OneOf(Object.keys(ERRORS) as ErrorCode[], described('Stable; match on this.')),
    detail: Type.String({ description: 'What was wrong and what to do.' }),
    request_id: Type.String(),
    // Not a constant, as above: it would be made a text.
    charged: Type.Unsafe<false | null>({
      type: ['boolean', 'null'],
      ...described('False: nothing was charged. Null: not known yet, with `settlement_pending` alone.'),
    }),
  },
  { $id: 'Problem', additionalProperties: true, description: 'RFC 9457 problem document.' },
);

/** Besides these fields it has the facts of its code. */
export type Problem = Shape<typeof ProblemSchema>;

export const HealthSchema = Type.Object({ status: Type.Literal('ok') }, { $id: 'Health' });

const PreviousModelSchema = Type.Object({
  space: Type.String(),
  weights: Type.String(),
  until: Type.String({ format: 'date-time' }),
});
/** A model that is not in use, and the last end of an index that may have it. */
export type PreviousModel = Shape<typeof PreviousModelSchema>;

export const ReadinessSchema = Type.Object(
  {
    ready: Type.Boolean(),
    reasons: Type.Array(Type.String(), described('Why it is not ready.')),
    families: Type.Array(
      Type.Object({ family: FamilySchema, available: Type.Boolean() }, { additionalProperties: true }),
      described('What can be searched, by which models and providers, and why not.'),
    ),
    previous_models: Type.Optional(
      Type.Array(
        PreviousModelSchema,
        described(
          'Models that are not in use and that living indexes may have, each until the last of these ends.',
        ),
      ),
    ),
    models_differ: Type.Optional(
      Type.String({
        description:
          "How this server's models differ from its cluster's. It passes requests on and has no indexes.",
      }),
    ),
    queues: Details('Calls that wait for an encoder.'),
    payment: Details<{ facilitator: { kind: string } }>(
      'The facilitator, and payments that run or wait for their outcome.',
    ),
    extraction: Type.Union([Type.String(), Details('How the readers of files are confined.')]),
    prices_usd: Type.Record(Type.String(), Type.String(), described('Prices of the routes.')),
    workspace_minutes: Type.Object(
      { min: Type.Integer(), max: Type.Integer() },
      described('What `ttl_minutes` is clamped to.'),
    ),
  },
  { $id: 'Readiness' },
);

/** `payment.facilitator.kind` is `local` where no money moves; `prices_usd` has decimals by route. */
export type ReadyAnswer = Shape<typeof ReadinessSchema>;

export const DescriptionSchema = Type.Object(
  { openapi: Type.String(), info: Details('Title and version.'), paths: Details('The operations.') },
  { $id: 'Description', additionalProperties: true },
);

export const JwksSchema = Type.Object(
  { keys: Type.Array(Details('A public key (RFC 7517).')) },
  { $id: 'JsonWebKeySet' },
);

export const DidDocumentSchema = Type.Object(
  {
    id: Type.String({ description: 'The server as `did:web`.' }),
    verificationMethod: Type.Array(Details('A public key.')),
    assertionMethod: Type.Array(Type.String(), described('The ids of all of them.')),
  },
  { $id: 'DidDocument', additionalProperties: true },
);

export const PaidResourcesSchema = Type.Object(
  {
    // Not a constant: generators for Java make code of a number's that does not compile.
    version: Type.Integer({ description: 'Of this format: 1.' }),
    resources: Type.Array(Type.String(), described('Addresses of the paid operations.')),
    instructions: Type.String({ description: 'How to use them.' }),
  },
  { $id: 'PaidResources' },
);

const NamedServer = { name: Type.String(), title: Type.String(), version: Type.String() };

export const ServerCardSchema = Type.Object(
  {
    ...NamedServer,
    description: Type.String(),
    websiteUrl: Type.String(),
    remotes: Type.Array(Type.Object({ type: Type.String(), url: Type.String() })),
    serverInfo: Type.Object(NamedServer),
    transport: Type.Object({ type: Type.String(), endpoint: Type.String() }),
  },
  { $id: 'ServerCard' },
);

export const AgentCardSchema = Type.Object(
  {
    name: Type.String(),
    description: Type.String(),
    version: Type.String(),
    documentationUrl: Type.String(),
    supportedInterfaces: Type.Array(
      Type.Object({ url: Type.String(), protocolBinding: Type.String(), protocolVersion: Type.String() }),
      described('How it is spoken to: MCP, and HTTP paid by x402. Agent2Agent itself is not spoken.'),
    ),
    capabilities: Type.Object({ streaming: Type.Boolean(), pushNotifications: Type.Boolean() }),
    defaultInputModes: Type.Array(Type.String()),
    defaultOutputModes: Type.Array(Type.String()),
    skills: Type.Array(
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        description: Type.String(),
        tags: Type.Array(Type.String()),
      }),
      described('The paid operations.'),
    ),
  },
  { $id: 'AgentCard' },
);

export type AgentCard = Shape<typeof AgentCardSchema>;

export type ServerCard = Shape<typeof ServerCardSchema>;
