// Copies the protos into the package, which loads them at run time.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const from = path.join(__dirname, '../../proto/proto/amem');
fs.cpSync(from, path.join(__dirname, 'proto/amem'), { recursive: true });
