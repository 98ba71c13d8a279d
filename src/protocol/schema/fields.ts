import { Kind, type SchemaOptions, type Static, type TSchema, Type, TypeRegistry } from '@sinclair/typebox';
import { FAMILIES, FAMILY_TABLE } from '../family.ts';
import type { Shown } from './facts.ts';

/**
 * Each message is defined once, as a schema: it validates requests, describes them in /openapi.json, and is the type that the server,
 * the client, MCP and the console use. `null` in a request means absent.
 */

/** The type of what a schema describes, read-only throughout. */
export type Shape<S extends TSchema> = Immutable<Static<S>>;

type Primitive = string | number | boolean | null | undefined;
type Immutable<T> = unknown extends T
  ? T
  : T extends Primitive
    ? T
    : { readonly [K in keyof T]: Immutable<T[K]> };

/** A reference to a named schema, with that schema's type. */
export const Ref = <S extends TSchema>(schema: S, options?: SchemaOptions) =>
  Type.Unsafe<Static<S>>(Type.Ref(schema.$id!, options));

/** An id of one kind. */
export const Id = <T extends string>(description?: string) =>
  Type.Unsafe<T>(Type.String(description === undefined ? {} : { description }));

/** TypeBox has no kind for `enum`, which is how generators of clients know one of some strings. */
const ONE_OF = 'OneOf';
TypeRegistry.Set<{ readonly enum: readonly unknown[] }>(ONE_OF, (schema, value) =>
  schema.enum.includes(value),
);

/** One of some strings. */
export const OneOf = <const T extends string>(values: readonly T[], options?: SchemaOptions) =>
  Type.Unsafe<T>({ type: 'string', enum: values, ...options, [Kind]: ONE_OF });

/** A symbol's value is no part of the wire's description. */
const SHOWN = Symbol('shown');

/** A field with how people and models see it. A field without it is in the answer and shown nowhere else. */
export const shown = <S extends TSchema>(schema: S, how: Shown): S => ({ ...schema, [SHOWN]: how });
/** A field of a model's data alone. */
export const inData = <S extends TSchema>(schema: S): S => shown(schema, { on: ['data'] });
export const shownOf = (schema: TSchema) => (schema as { [SHOWN]?: Shown })[SHOWN];

export const described = (description: string) => ({ description });

export const Money = (description: string) =>
  Type.String({ description, pattern: '^\\d+(\\.\\d{1,6})?$', examples: ['0.0175'] });

export const Timestamp = (description: string) => Type.String({ format: 'date-time', description });

export const Count = (description?: string) =>
  Type.Integer({ minimum: 0, ...(description !== undefined && { description }) });

export const FamilySchema = OneOf(FAMILIES, {
  description: `${FAMILIES.map((family) => `\`${family}\`: ${FAMILY_TABLE[family].finds}`).join('; ')}.`,
});

export const Charged = Type.Boolean({ description: 'Whether this request was charged.' });

export const Warnings = Type.Optional(
  Type.Array(Type.String(), described('Unknown fields that were ignored.')),
);

/** An object whose members are not described. `T`: those of them that a client may rely on. */
export const Details = <T extends object = object>(description: string) =>
  Type.Unsafe<T>(Type.Record(Type.String(), Type.Unknown(), described(description)));
