import type { TObject } from '@sinclair/typebox';
import { ConditionSchema, FilterSchema } from './filter.ts';
import { ItemTextSchema } from './item-text.ts';
import {
  IngestResponseSchema,
  ItemDeletedSchema,
  ItemListSchema,
  ItemSchema,
  JobSchema,
  NotReadSchema,
} from './items.ts';
import { McpAnswerSchema, McpRequestSchema } from './mcp.ts';
import { PrepaidRefundRequestSchema, PrepaidRefundSchema, PrepaidSchema, PrepaySchema } from './prepaid.ts';
import {
  QuestionSchema,
  SearchRequestSchema,
  WorkspaceCreateSchema,
  WorkspaceExtendSchema,
} from './requests.ts';
import {
  BoundSchema,
  HitExplanationSchema,
  HitSchema,
  LocatorSchema,
  MomentSchema,
  QuestionAnswerSchema,
  SearchExplanationSchema,
  SearchResponseSchema,
  TimingSchema,
} from './search.ts';
import {
  AgentCardSchema,
  DescriptionSchema,
  DidDocumentSchema,
  HealthSchema,
  JwksSchema,
  PaidResourcesSchema,
  PaymentRequiredSchema,
  ProblemSchema,
  ReadinessSchema,
  ServerCardSchema,
} from './service.ts';
import {
  DisposalSchema,
  HistorySchema,
  ReserveEndedSchema,
  ReserveSchema,
  UsageSchema,
  WorkspaceSchema,
} from './workspaces.ts';

/** Every named schema of the description's `components`. */
export const COMPONENTS: readonly TObject[] = [
  SearchRequestSchema,
  QuestionSchema,
  FilterSchema,
  ConditionSchema,
  WorkspaceCreateSchema,
  WorkspaceExtendSchema,
  LocatorSchema,
  MomentSchema,
  ItemSchema,
  JobSchema,
  NotReadSchema,
  HitExplanationSchema,
  HitSchema,
  BoundSchema,
  SearchExplanationSchema,
  TimingSchema,
  QuestionAnswerSchema,
  SearchResponseSchema,
  IngestResponseSchema,
  PrepaySchema,
  PrepaidSchema,
  PrepaidRefundRequestSchema,
  PrepaidRefundSchema,
  WorkspaceSchema,
  UsageSchema,
  ReserveSchema,
  ReserveEndedSchema,
  ItemListSchema,
  ItemTextSchema,
  ItemDeletedSchema,
  HistorySchema,
  DisposalSchema,
  PaymentRequiredSchema,
  ProblemSchema,
  HealthSchema,
  ReadinessSchema,
  DidDocumentSchema,
  JwksSchema,
  PaidResourcesSchema,
  ServerCardSchema,
  AgentCardSchema,
  DescriptionSchema,
  McpRequestSchema,
  McpAnswerSchema,
];

/** A schema's properties as plain JSON Schema with references resolved, because catalogues do not follow them. */
export function inlineProperties(schema: TObject): Record<string, unknown> {
  return JSON.parse(JSON.stringify(schema.properties, inline)) as Record<string, unknown>;
}

function inline(key: string, value: unknown): unknown {
  if (key === '$id') return undefined;
  const reference = (value as { $ref?: unknown } | null)?.$ref;
  const target = COMPONENTS.find(({ $id }) => $id === reference);
  if (reference === undefined || !target) return value;
  // Catalogue entries travel in a header: what is long is shortened to an object.
  const isShortened = String(reference).endsWith('Explanation') || target === FilterSchema;
  return isShortened ? { type: 'object', description: target.description } : { ...target };
}
