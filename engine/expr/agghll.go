package expr

import (
	_ "embed"
	"math"
	"math/bits"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

func bindApproxCount(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 2); err != nil {
		return nil, err
	}
	sd := 0.05
	if len(args) == 2 {
		v, err := b.constant(b.sql(args), args, 1, isDouble, "relativeSD")
		if err != nil {
			return nil, err
		}
		sd, _ = v.(float64)
	}
	p := 0
	if sd > 0 {
		p = int(math.Ceil(2 * math.Log(1.106/sd) / math.Log(2)))
	}
	if p < 4 {
		return nil, mismatch("VALUE_OUT_OF_RANGE", b.sql(args), "the relativeSD must be such that at least 4 bits address the registers")
	}
	p = min(p, 24)
	if hasMap(args[0].Type()) {
		return nil, sparkerr.New("DATATYPE_MISMATCH.HASH_MAP_TYPE", "input to the function `approx_count_distinct` cannot contain elements of the \"MAP\" type")
	}
	return b.aggregate(args[:1:1], columnar.Int64, false, []columnar.Field{field("registers", columnar.Binary, false)},
		func(*Context) Accumulator { return &hllAcc{p: p} }), nil
}

// hllAcc estimates numbers of different values by HyperLogLog++: one register, a byte, per bucket.
type hllAcc struct {
	p   int
	reg [][]byte
}

func (a *hllAcc) Grow(n int) { a.reg = growTo(a.reg, n) }

func (a *hllAcc) at(g uint32) []byte {
	if a.reg[g] == nil {
		a.reg[g] = make([]byte, 1<<a.p)
	}
	return a.reg[g]
}

func (a *hllAcc) Update(group []uint32, args []*columnar.Column) error {
	c := args[0]
	for i, g := range group {
		if c.IsNull(i) {
			continue
		}
		h := hashAt(xxHash64{}, c, i, 42)
		r := a.at(g)
		idx := h >> (64 - a.p)
		rank := byte(bits.LeadingZeros64(h<<a.p|1<<(a.p-1)) + 1)
		if rank > r[idx] {
			r[idx] = rank
		}
	}
	return nil
}

func (a *hllAcc) Merge(group []uint32, state []*columnar.Column) error {
	for i, g := range group {
		s := state[0].BytesAt(i)
		if len(s) != 1<<a.p {
			continue // empty
		}
		for k, v := range a.at(g) {
			if s[k] > v {
				a.reg[g][k] = s[k]
			}
		}
	}
	return nil
}

func (a *hllAcc) State() ([]*columnar.Column, error) {
	b := columnar.NewBuilder(columnar.Binary, len(a.reg))
	for _, r := range a.reg {
		b.AppendBytes(r)
	}
	return []*columnar.Column{b.Finish()}, nil
}

func (a *hllAcc) Result() (*columnar.Column, error) {
	out := make([]int64, len(a.reg))
	for i, r := range a.reg {
		if r != nil {
			out[i] = hllEstimate(r, a.p)
		}
	}
	return columnar.NewFixed(columnar.Int64, out, nil), nil
}

func (a *hllAcc) Reset() { a.reg = resetSlice(a.reg) }

// hllEstimate is the number of different values that the registers tell of.
func hllEstimate(reg []byte, p int) int64 {
	m := float64(len(reg))
	inverse, zeros := 0.0, 0.0
	for _, r := range reg {
		inverse += 1 / float64(uint64(1)<<r)
		if r == 0 {
			zeros++
		}
	}
	alpha := 0.7213 / (1 + 1.079/m)
	switch p {
	case 4:
		alpha = 0.673
	case 5:
		alpha = 0.697
	case 6:
		alpha = 0.709
	}
	e := alpha * m * m / inverse
	if zeros > 0 {
		// Few values: count by the empty registers.
		h := m * math.Log(m/zeros)
		if p < 19 && h <= hllThresholds[p-4] || e <= 2.5*m {
			return int64(math.Floor(h + 0.5))
		}
	}
	if p < 19 && e < 5*m {
		e -= hllBias(e, p)
	}
	return int64(math.Floor(e + 0.5))
}

// hllThresholds are the estimates below which empty registers are counted, for precisions from 4.
var hllThresholds = [...]float64{10, 20, 40, 80, 220, 400, 900, 1800, 3100, 6500, 11500, 20000, 50000, 120000, 350000}

//go:embed hlltables.txt
var hllTablesText string

// hllTables are the measured estimates and errors, two lists for each precision from 4.
var hllTables = sync.OnceValue(func() (t [][]float64) {
	for _, line := range strings.Split(hllTablesText, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		var v []float64
		for _, w := range strings.Fields(line) {
			f, _ := strconv.ParseFloat(w, 64)
			v = append(v, f)
		}
		t = append(t, v)
	}
	return t
})

// hllBias is the mean error of the six measurements nearest to an estimate.
func hllBias(e float64, p int) float64 {
	const k = 6
	est, bias := hllTables()[2*(p-4)], hllTables()[2*(p-4)+1]
	at := sort.SearchFloat64s(est, e)
	distance := func(i int) float64 { return (e - est[i]) * (e - est[i]) }
	lo := max(at-k+1, 0)
	hi := min(lo+k, len(est))
	for hi < len(est) && distance(hi) < distance(lo) {
		lo++
		hi++
	}
	sum := 0.0
	for _, b := range bias[lo:hi] {
		sum += b
	}
	return sum / float64(hi-lo)
}
