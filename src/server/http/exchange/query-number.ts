import { FarthingError } from '@farthing/protocol/error';
import { Type } from '@sinclair/typebox';
import type { Exchange } from './exchange.ts';
import type { ParameterDoc } from './route.ts';

/** A number in the query of a path. */
export class QueryNumber {
  readonly parameter: ParameterDoc;
  readonly #min: number;
  readonly #max: number;
  readonly #isWhole: boolean;

  constructor(name: string, description: string, { min = 0, max = 999_999_999, isWhole = true } = {}) {
    const bounds = { minimum: min, maximum: max };
    const schema = isWhole ? Type.Integer(bounds) : Type.Number(bounds);
    this.parameter = { name, in: 'query', description, schema };
    [this.#min, this.#max, this.#isWhole] = [min, max, isWhole];
  }

  /** Undefined where it is left out. @throws field_invalid */
  of({ head }: Pick<Exchange, 'head'>): number | undefined {
    const { name } = this.parameter;
    const text = new URLSearchParams(head.query).get(name);
    if (text === null) return undefined;
    const value = /^\d+(\.\d+)?([eE][-+]?\d+)?$/.test(text) ? Number(text) : Number.NaN;
    if (value >= this.#min && value <= this.#max && (!this.#isWhole || Number.isInteger(value))) return value;
    const kind = this.#isWhole ? 'a whole number' : 'a number';
    throw new FarthingError('field_invalid', `${name}: send ${kind} from ${this.#min} to ${this.#max}.`, {
      facts: { field: name },
    });
  }
}
