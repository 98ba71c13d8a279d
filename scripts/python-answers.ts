import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TSchema } from '@sinclair/typebox';
import { COMPONENTS } from '../src/protocol/schema/components.ts';
import { FamilySchema } from '../src/protocol/schema/fields.ts';
import { readWords } from './words.ts';

/**
 * Writes what is made of the client in clients/python: the wire's shapes as Python's types, and the blocking client from the async one.
 * `make python-answers`. A test compares them.
 */

const fileOf = (name: string) =>
  fileURLToPath(new URL(`../clients/python/src/farthing/${name}`, import.meta.url));
export const ANSWERS_FILE = fileOf('answers.py');
export const CLIENT_FILE = fileOf('client.py');

/** The async client's words, and those of the blocking one. */
const BLOCKING: readonly (readonly [RegExp, string])[] = [
  [
    /^.*\n/,
    '"""The blocking client, made from the async one (aio.py): `make python-answers` writes this file."""\n',
  ],
  [/^(?:from \.renting import| {4}@renting).*\n/gm, ''],
  [/\basync (?=def|with)|\bawait /g, ''],
  [/\brun_async\b/g, 'run'],
  [/\bAsync(?=Farthing|Workspace|Client)/g, ''],
  [/\b__a(?=enter__|exit__)/g, '__'],
  [/\baclose\b/g, 'close'],
];

/** The blocking client as a Python module. */
export function blockingClient(): string {
  const source = readFileSync(fileOf('aio.py'), 'utf8');
  return BLOCKING.reduce((text, [from, to]) => text.replace(from, to), source);
}

/** What the client answers with; what these refer to comes along. */
const ANSWERS = [
  'SearchResponse',
  'GrepResponse',
  'IngestResponse',
  'Workspace',
  'WorkspaceUsage',
  'HouseWorkspace',
  'HouseWorkspaceList',
  'ReserveEnded',
  'Prepaid',
  'PrepaidBalance',
  'PrepaidRefund',
  'ItemList',
  'ItemText',
  'ItemDeleted',
  'SearchHistory',
  'DisposalReceipt',
  'Readiness',
  'JsonWebKeySet',
];
/** Requests, whose members are options of a method. */
const REQUESTS = { SearchRequest: 'SearchOptions', GrepRequest: 'GrepOptions' };
/** Members that the method takes by names of its own. */
const OWN = ['query', 'image_b64', 'pattern'];

const LINE_LENGTH = 120;

type Schema = TSchema & {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
};

/** The types as one Python module. */
export function pythonAnswers(): string {
  const classes = new Map<string, string>();
  for (const name of ANSWERS) classOf(name, named(name), classes);
  for (const [name, as] of Object.entries(REQUESTS)) {
    const { properties = {}, ...schema } = named(name);
    const rest = Object.fromEntries(Object.entries(properties).filter(([field]) => !OWN.includes(field)));
    classOf(as, { ...schema, properties: rest, required: [] } as unknown as Schema, classes);
  }
  return `"""The shapes of the server's answers, made from its schemas: \`make python-answers\` writes this file."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import NotRequired, TypedDict

Family = ${typeOf('Family', FamilySchema as Schema, classes)}

${[...classes.values()].join('\n\n')}
`;
}

function named(name: string): Schema {
  const found = COMPONENTS.find(({ $id }) => $id === name);
  if (!found) throw new Error(`There is no schema ${name}.`);
  return found as Schema;
}

/** Words of Python, which no class can have as fields. */
const KEYWORDS = new Set(['and', 'from', 'in', 'is', 'not', 'or']);

/** Adds a class, after those that it refers to. */
function classOf(name: string, schema: Schema, classes: Map<string, string>): string {
  if (classes.has(name)) return name;
  // Its place, before what comes with it: order does not matter to Python here.
  classes.set(name, '');
  const fields = Object.entries(schema.properties ?? {}).map(([field, of]) => {
    const type = typeOf(name + pascal(field), of, classes);
    const isRequired = schema.required?.includes(field);
    return [
      `    ${field}: ${isRequired ? type : optional(type)}`,
      ...(of.description ? docstring(of.description) : []),
    ].join('\n');
  });
  if (Object.keys(schema.properties ?? {}).some((field) => KEYWORDS.has(field))) {
    classes.set(name, calledClass(name, schema, classes));
    return name;
  }
  const about = schema.description ? [...docstring(schema.description), ''] : [];
  classes.set(name, `\nclass ${name}(TypedDict):\n${[...about, ...fields].join('\n') || '    pass'}`);
  return name;
}

/** The same where a field's name is a word of Python. */
function calledClass(name: string, schema: Schema, classes: Map<string, string>): string {
  const fields = Object.entries(schema.properties ?? {}).map(([field, of]) => {
    const type = typeOf(name + pascal(field), of, classes);
    return `        "${field}": "${schema.required?.includes(field) ? type : `NotRequired[${type}]`}",`;
  });
  const about = schema.description ? docstring(schema.description).map((line) => line.trimStart()) : [];
  return [`\n${name} = TypedDict(`, `    "${name}",`, '    {', ...fields, '    },', ')', ...about].join('\n');
}

function typeOf(name: string, schema: Schema, classes: Map<string, string>): string {
  if (schema.$ref !== undefined) return classOf(schema.$ref, named(schema.$ref), classes);
  if (schema.$id !== undefined && schema.properties) return classOf(schema.$id, schema, classes);
  if (schema.enum) return isFamily(schema) && name !== 'Family' ? 'Family' : literal(schema.enum);
  if (schema.const !== undefined) return literal([schema.const]);
  if (schema.anyOf) return schema.anyOf.map((each) => typeOf(name, each, classes)).join(' | ');
  switch (schema.type) {
    case 'string':
      return 'str';
    case 'integer':
      return 'int';
    case 'number':
      return 'float';
    case 'boolean':
      return 'bool';
    case 'null':
      return 'None';
    case 'array':
      return `list[${schema.items === undefined ? 'Any' : typeOf(name, schema.items, classes)}]`;
    case 'object': {
      if (Object.keys(schema.properties ?? {}).length > 0) return classOf(name, schema, classes);
      const [of] = Object.values(schema.patternProperties ?? {});
      return `dict[str, ${of === undefined ? 'Any' : typeOf(name, of, classes)}]`;
    }
    default:
      return 'Any';
  }
}

/** As ruff writes it. */
function optional(type: string): string {
  if (!type.includes('\n')) return `NotRequired[${type}]`;
  return `NotRequired[\n        ${type.replaceAll('\n', '\n    ')}\n    ]`;
}

const isFamily = (schema: Schema) => JSON.stringify(schema.enum) === JSON.stringify(FamilySchema.enum);

function literal(values: readonly unknown[]): string {
  const shown = values.map((value) =>
    typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value),
  );
  const line = `Literal[${shown.join(', ')}]`;
  return line.length < LINE_LENGTH / 2
    ? line
    : `Literal[\n${shown.map((each) => `        ${each},`).join('\n')}\n    ]`;
}

const pascal = (field: string) =>
  field
    .split('_')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');

function docstring(text: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.replaceAll('\\', '\\\\').split(' ')) {
    if (line.length + word.length + 12 > LINE_LENGTH) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  lines.push(line);
  return [`    """${lines.join('\n    ')}"""`];
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  readWords({
    command: 'python-answers.ts',
    does: 'Writes the types of the Python client from the wire’s schemas, and its blocking half.',
  });
  writeFileSync(ANSWERS_FILE, pythonAnswers());
  writeFileSync(CLIENT_FILE, blockingClient());
}
