import { type AllowedValues, refusedValue } from '@farthing/protocol/allowed';
import { beginning } from '@farthing/protocol/brief';
import { type ErrorCode, errorCode, FarthingError } from '@farthing/protocol/error';
import { nearest } from '@farthing/protocol/nearest';
import { parseJson } from '@farthing/protocol/well-formed';
import type { Static, TObject, TSchema } from '@sinclair/typebox';
import { type TypeCheck, TypeCompiler, type ValueError } from '@sinclair/typebox/compiler';

/** A validated JSON object: its known fields without nulls, and the names of ignored ones. */
export interface Validated<S extends TObject> {
  readonly value: Static<S>;
  readonly warnings: readonly string[];
}

const WARNINGS_MAX = 20;
const WARNING_LENGTH_MAX = 64;

/**
 * Reads a JSON object, whatever its Content-Type says. An empty body is an empty object.
 * @throws request_malformed, or field_invalid for a text that is not well formed
 */
export function parseJsonObject(text: string): Record<string, unknown> {
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    if (errorCode(error)) throw error;
    throw new FarthingError(
      'request_malformed',
      'Send a JSON object as the body: this cannot be parsed as JSON.',
    );
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new FarthingError(
      'request_malformed',
      'Send a JSON object as the body, not an array or a bare value.',
    );
  }
  return value as Record<string, unknown>;
}

/** Checks objects against one schema. Errors name the field; unknown fields are ignored and named in the warnings. */
export class Validator<S extends TObject> {
  readonly #check: TypeCheck<S>;
  readonly #known: readonly string[];
  readonly #codeOf: (field: string, error: ValueError) => ErrorCode;

  /**
   * @param codeOf error code of a field's fault
   * @param references schemas that this one refers to
   */
  constructor(
    schema: S,
    codeOf: (field: string, error: ValueError) => ErrorCode = () => 'field_invalid',
    references: TSchema[] = [],
  ) {
    this.#check = TypeCompiler.Compile(schema, references);
    this.#known = Object.keys(schema.properties);
    this.#codeOf = codeOf;
  }

  /** @throws field_invalid, or the code of `codeOf`, with `field` */
  validate(object: Readonly<Record<string, unknown>>): Validated<S> {
    const value: Record<string, unknown> = {};
    for (const name of this.#known) {
      if (Object.hasOwn(object, name) && object[name] !== null) value[name] = object[name];
    }
    if (!this.#check.Check(value)) {
      const error = this.#check.Errors(value).First()!;
      const field = error.path.split('/')[1] ?? '';
      const allowed = error.schema.enum as readonly string[] | undefined;
      const what =
        error.value === undefined ? 'is missing' : refusedValue(error.schema as AllowedValues, error.value);
      throw new FarthingError(this.#codeOf(field, error), `${field}: ${what}.`, {
        facts: { field, ...(allowed && { allowed }) },
      });
    }
    const unknown = Object.keys(object).filter((name) => !this.#known.includes(name));
    return { value: value as Static<S>, warnings: warningsFor(unknown, this.#known) };
  }

  /** The fields of an object that are valid by themselves. For quotes of unpaid requests. */
  lenient(object: Readonly<Record<string, unknown>>): Static<S> {
    const value: Record<string, unknown> = {};
    for (const name of this.#known) {
      if (!Object.hasOwn(object, name) || object[name] === null) continue;
      if (this.#check.Check({ [name]: object[name] })) value[name] = object[name];
    }
    return value as Static<S>;
  }
}

/** @param known the fields that are read */
export function warningsFor(unknown: readonly string[], known: readonly string[]): string[] {
  return unknown.slice(0, WARNINGS_MAX).map((name) => {
    const near = nearest(name, known);
    const meant = near === undefined ? '' : ` Did you mean ${near}?`;
    const shown = JSON.stringify(beginning(name, WARNING_LENGTH_MAX));
    return `Unknown field ignored: ${shown}.${meant} Known: ${known.join(', ')}.`;
  });
}

/** The `warnings` field of an answer, left out when there are none. */
export function named(warnings: readonly string[]): { warnings?: readonly string[] } {
  return warnings.length > 0 ? { warnings } : {};
}
