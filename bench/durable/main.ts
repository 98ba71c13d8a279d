import { appendFigures, tenantFigures } from '../index/durable.ts';
import { machine, writeRecord } from '../rig/record.ts';

/** What is durable, and what many Tenants cost: `make bench NAME=durable TENANTS=10000` (two minutes). */
const TENANTS = Number(process.env.TENANTS || '10000');
const of = machine();
console.log(`${of.processor}, ${of.cores} cores, Node ${of.node}, load before ${of.load_before[0]}`);
const appends = await appendFigures();
console.log('appends', appends);
const tenants = TENANTS > 0 ? await tenantFigures(TENANTS) : undefined;
console.log('tenants', tenants);
console.log(`record: ${writeRecord('durable', { appends, tenants }, of)}`);
