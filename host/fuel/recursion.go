package fuel

// taken notes a function of the module whose address is taken, so that it may be called by table.
func (w *rewriter) taken(index uint32) {
	if index < w.imported || uint64(index-w.imported) >= uint64(len(w.funcTypes)) {
		return // an import calls nothing of the module; an index that is too large is an error elsewhere
	}
	if w.addressTaken == nil {
		w.addressTaken = make([]bool, len(w.funcTypes))
	}
	w.addressTaken[index-w.imported] = true
}

// markRecursive finds the functions that may call themselves: those on a cycle of the graph of calls, in which one
// node more stands for all calls by table.
func (w *rewriter) markRecursive(functions []function) {
	table := uint32(len(functions))
	var byTable []uint32
	for i, t := range w.addressTaken {
		if t {
			byTable = append(byTable, uint32(i))
		}
	}
	edges := func(v uint32) []uint32 {
		if v == table {
			return byTable
		}
		return functions[v].calls
	}
	g := cycles{n: table + 1, edge: func(v uint32, i int) (uint32, bool) {
		e := edges(v)
		if i < len(e) {
			return e[i], e[i] < table // an index that is too large is an error elsewhere
		}
		if v != table && functions[v].indirect && i == len(e) {
			return table, true
		}
		return 0, false
	}, degree: func(v uint32) int {
		n := len(edges(v))
		if v != table && functions[v].indirect {
			n++
		}
		return n
	}}
	g.find(func(v uint32) {
		if v < table {
			functions[v].recursive = true
		}
	})
	for i := range functions {
		functions[i].calls = nil
	}
}

// cycles finds the nodes of a graph that lie on a cycle: Tarjan's strongly connected components, without recursion,
// since the graph is a guest's.
type cycles struct {
	n      uint32
	degree func(v uint32) int
	edge   func(v uint32, i int) (to uint32, ok bool)
}

// find calls found for every node on a cycle.
func (g *cycles) find(found func(v uint32)) {
	const unseen = 0
	index, low := make([]uint32, g.n), make([]uint32, g.n)
	onStack, loops := make([]bool, g.n), make([]bool, g.n)
	var stack []uint32
	type visit struct {
		v    uint32
		next int
	}
	var path []visit
	count := uint32(0)
	open := func(v uint32) {
		count++
		index[v], low[v], onStack[v] = count, count, true
		stack = append(stack, v)
		path = append(path, visit{v, 0})
	}
	for root := uint32(0); root < g.n; root++ {
		if index[root] != unseen {
			continue
		}
		open(root)
		for len(path) > 0 {
			p := &path[len(path)-1]
			v := p.v
			if p.next < g.degree(v) {
				w, ok := g.edge(v, p.next)
				p.next++
				switch {
				case !ok:
				case w == v:
					loops[v] = true
				case index[w] == unseen:
					open(w)
				case onStack[w]:
					low[v] = min(low[v], index[w])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				up := path[len(path)-1].v
				low[up] = min(low[up], low[v])
			}
			if low[v] != index[v] {
				continue
			}
			// v is the first of a component, which lies on top of the stack.
			at := len(stack) - 1
			for stack[at] != v {
				at--
			}
			for _, w := range stack[at:] {
				onStack[w] = false
				if len(stack)-at > 1 || loops[w] {
					found(w)
				}
			}
			stack = stack[:at]
		}
	}
}
