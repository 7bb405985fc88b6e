import { suite } from 'uvu';
import { Diagnostics, openDevice } from '../../src/device/index.ts';
import { contract } from '../support/device-contract.ts';

const test = suite('device/opencl');
contract(test, { name: 'opencl', open: () => openDevice('opencl', new Diagnostics())!, launches: 200 });
test.run();
