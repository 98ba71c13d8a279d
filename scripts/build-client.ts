/**
 * Builds `farthing/client` (src/client) into dist. It brings the code that it uses of other packages: 1 MB of 91, in 11 files
 * instead of 13,000. Its declarations stand alone: the types of the answers come from the wire's schemas, so each is written out,
 * with the schema's descriptions, instead of a reference to the schema library.
 * `node scripts/build-client.ts`; called by `npm run build:client`.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { build } from 'esbuild';
import ts from 'typescript';
import { COMPONENTS } from '../src/protocol/schema/components.ts';
import { noteBundled } from './packages/bundled.ts';
import { readWords } from './words.ts';

readWords({ command: 'build-client.ts', does: 'Builds farthing/client into dist.' });

const root = resolve(import.meta.dirname, '..');
const answers = join(root, 'src/client/answers/answers.ts');

/** The part of a JSON Schema that descriptions are read from. */
interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** Named schemas whose types have other names in the client. */
const SCHEMA_OF: Readonly<Record<string, string>> = {
  Hit: 'SearchHit',
  SearchAnswer: 'SearchResponse',
  IngestAnswer: 'IngestResponse',
  AcceptedIngest: 'IngestResponse',
  ItemsAnswer: 'ItemList',
  ItemTextAnswer: 'ItemText',
  ItemDeletedAnswer: 'ItemDeleted',
  PublicJob: 'Job',
  ReadyAnswer: 'Readiness',
  WorkspaceAnswer: 'Workspace',
  UsageAnswer: 'WorkspaceUsage',
  HistoryAnswer: 'SearchHistory',
  DisposalAnswer: 'DisposalReceipt',
};

const named = new Map(COMPONENTS.map((schema) => [schema.$id, JSON.parse(JSON.stringify(schema)) as Schema]));

function resolved(schema: Schema | undefined): Schema | undefined {
  return schema?.$ref === undefined ? schema : named.get(schema.$ref);
}

const program = programOf(join(root, 'tsconfig.client.json'));
const checker = program.getTypeChecker();

function programOf(configPath: string): ts.Program {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: stop };
  const config = ts.getParsedCommandLineOfConfigFile(configPath, {}, host);
  if (!config) throw new Error(`${configPath} cannot be read`);
  return ts.createProgram(config.fileNames, config.options);
}

function stop(diagnostic: ts.Diagnostic): never {
  throw new Error(ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n'));
}

const exported = exportsOf(answers);
const nameOfSchema = new Map(exported.map(({ name }) => [SCHEMA_OF[name] ?? name, name]));

function exportsOf(path: string): readonly ts.Symbol[] {
  const source = program.getSourceFile(path);
  const module = source && checker.getSymbolAtLocation(source);
  if (!module) throw new Error(`${path} exports nothing`);
  return checker.getExportsOfModule(module);
}

/** A type as text. What the client exports is named; all else is written out. @throws Error for a kind that no answer has so far */
function written(type: ts.Type, schema?: Schema): string {
  const name = schema?.$ref !== undefined && nameOfSchema.get(schema.$ref);
  return name || writtenOut(type, resolved(schema));
}

function writtenOut(type: ts.Type, schema: Schema | undefined): string {
  if (type.flags & ts.TypeFlags.Boolean) return 'boolean';
  if (type.isUnion()) return type.types.map((part) => written(part, schema)).join(' | ');
  // An id of one kind is a string that the server's own code tells apart from others.
  if (type.isIntersection() && type.types.some(({ flags }) => flags & ts.TypeFlags.String)) return 'string';
  if (!(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection))) return checker.typeToString(type);
  if (type.getCallSignatures().length > 0) throw new Error(`no answer has ${checker.typeToString(type)}`);
  const parts = checker.getTypeArguments(type as ts.TypeReference);
  if (checker.isTupleType(type)) return `readonly [${parts.map((part) => written(part)).join(', ')}]`;
  if (checker.isArrayType(type)) return `readonly (${written(parts[0]!, schema?.items)})[]`;
  const order = Object.keys(schema?.properties ?? {});
  const members = checker
    .getPropertiesOfType(type)
    .toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
    .map((member) => writtenMember(member, schema));
  const others = checker
    .getIndexInfosOfType(type)
    .map((index) => `readonly [name: string]: ${written(index.type)};`);
  return members.length + others.length === 0 ? 'object' : `{ ${[...members, ...others].join('\n')} }`;
}

function writtenMember(member: ts.Symbol, owner: Schema | undefined): string {
  const schema = owner?.properties?.[member.name];
  const isOptional = (member.flags & ts.SymbolFlags.Optional) !== 0;
  const type = checker.getTypeOfSymbol(member);
  const given = isOptional ? checker.getNonNullableType(type) : type;
  // The client may promise a member that the schema does not: then the schema says when it is absent.
  const isPromised = !isOptional && owner?.required?.includes(member.name) === false;
  const doc = docOf(isPromised ? undefined : (schema?.description ?? resolved(schema)?.description));
  return `${doc}readonly ${member.name}${isOptional ? '?' : ''}: ${written(given, schema)};`;
}

function docOf(text: string | undefined): string {
  return text ? `\n/** ${text} */\n` : '';
}

/** Declarations of all that the client's file of answers exports. */
function declarations(): string {
  const types = exported.map((entry) => {
    const symbol = entry.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(entry) : entry;
    const schema = named.get(SCHEMA_OF[entry.name] ?? entry.name);
    const doc = docOf(ts.displayPartsToString(symbol.getDocumentationComment(checker)));
    return `${doc}export type ${entry.name} = ${writtenOut(checker.getDeclaredTypeOfSymbol(symbol), schema)};`;
  });
  return ts
    .createPrinter()
    .printFile(ts.createSourceFile('answers.d.ts', types.join('\n'), ts.ScriptTarget.ES2023));
}

const declarationFiles = () =>
  readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.d.ts'))
    .map((name) => join(root, 'dist', name));

/** Names the other package's declarations by where they lie beside the client's: nobody who installs it has that package. */
function standAlone(file: string): void {
  const beside = relative(dirname(file), join(root, 'dist/protocol'));
  const source = readFileSync(file, 'utf8');
  writeFileSync(file, source.replaceAll(/'@farthing\/protocol\/([\w/-]+)'/g, `'${beside}/$1.js'`));
}

rmSync(join(root, 'dist'), { recursive: true, force: true });
const { diagnostics } = program.emit();
const faults = [...ts.getPreEmitDiagnostics(program), ...diagnostics];
if (faults.length > 0) stop(faults[0]!);
rmSync(join(root, 'dist/protocol/schema'), { recursive: true });
for (const file of declarationFiles()) standAlone(file);
writeFileSync(join(root, 'dist/client/answers/answers.d.ts'), declarations());
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: [join(root, 'src/client/index.ts')],
  outdir: join(root, 'dist/client'),
  chunkNames: '[name]-[hash]',
  bundle: true,
  // What pays and what checks receipts is read when it is needed.
  splitting: true,
  format: 'esm',
  // Node, Deno and Bun have all that these packages ask of a browser.
  platform: 'browser',
  target: 'es2022',
  external: ['node:*'],
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
});
noteBundled('client', metafile);
