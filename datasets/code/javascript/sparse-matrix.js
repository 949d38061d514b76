"use strict";

/** A sparse matrix in compressed-row form, built from [row, column, value] triples. */
class SparseMatrix {
  constructor(rows, columns, triples = []) {
    this.rows = rows;
    this.columns = columns;
    const sorted = [...triples].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    this.starts = new Int32Array(rows + 1);
    this.indices = new Int32Array(sorted.length);
    this.values = new Float64Array(sorted.length);
    sorted.forEach(([row, column, value], k) => {
      if (row >= rows || column >= columns) throw new RangeError(`(${row}, ${column}) is outside`);
      this.starts[row + 1] += 1;
      this.indices[k] = column;
      this.values[k] = value;
    });
    for (let row = 0; row < rows; row++) this.starts[row + 1] += this.starts[row];
  }

  times(vector) {
    const result = new Float64Array(this.rows);
    for (let row = 0; row < this.rows; row++) {
      let sum = 0;
      for (let k = this.starts[row]; k < this.starts[row + 1]; k++) {
        sum += this.values[k] * vector[this.indices[k]];
      }
      result[row] = sum;
    }
    return result;
  }

  *[Symbol.iterator]() {
    for (let row = 0; row < this.rows; row++)
      for (let k = this.starts[row]; k < this.starts[row + 1]; k++)
        yield [row, this.indices[k], this.values[k]];
  }
}

function pageRank(links, n, damping = 0.85, tolerance = 1e-9) {
  const outgoing = new Array(n).fill(0);
  for (const [from] of links) outgoing[from]++;
  const matrix = new SparseMatrix(n, n, links.map(([from, to]) => [to, from, 1 / outgoing[from]]));
  let rank = Float64Array.from({ length: n }, () => 1 / n);
  for (let round = 0; round < 1000; round++) {
    const dangling = rank.reduce((sum, r, i) => (outgoing[i] ? sum : sum + r), 0);
    const next = matrix.times(rank).map((r) => (1 - damping) / n + damping * (r + dangling / n));
    const change = next.reduce((sum, r, i) => sum + Math.abs(r - rank[i]), 0);
    rank = next;
    if (change < tolerance) break;
  }
  return rank;
}

module.exports = { SparseMatrix, pageRank };
