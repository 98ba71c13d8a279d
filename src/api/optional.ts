import { Type } from '@sinclair/typebox';
import { FAMILIES, FAMILY_TABLE } from '../domain/family.ts';

/** The same schemas validate requests and describe them in /openapi.json. `null` means absent everywhere. */

export const described = (description: string) => ({ description });

export const Money = (description: string) =>
  Type.String({ description, pattern: '^\\d+(\\.\\d{1,6})?$', examples: ['0.0175'] });

export const Timestamp = (description: string) => Type.String({ format: 'date-time', description });

export const Count = (description: string) => Type.Integer({ minimum: 0, description });

export const FamilySchema = Type.Union(
  FAMILIES.map((family) => Type.Literal(family)),
  {
    description: `${FAMILIES.map((family) => `\`${family}\`: ${FAMILY_TABLE[family].finds}`).join('; ')}.`,
  },
);

export const Charged = Type.Boolean({ description: 'Whether this request was charged.' });

export const Warnings = Type.Optional(
  Type.Array(Type.String(), described('Unknown fields that were ignored.')),
);

export const Details = (description: string) =>
  Type.Record(Type.String(), Type.Unknown(), described(description));
