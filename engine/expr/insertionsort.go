package expr

import "slices"

// insertion sorts a slice of fewer than 32 elements by the very comparisons that Java's sort makes, so that
// comparators which contradict themselves give what they give there: the run that the slice begins with is
// found (and turned round when it falls), and each further element goes to its place by halving.
type insertion struct {
	lo, hi      int32 // the slice within the indexes
	at          int32 // the element that is looked at
	left, right int32 // where its place lies
	phase       insertionPhase
	falling     bool
}

type insertionPhase uint8

const (
	firstTwo insertionPhase = iota
	inRun
	halving
)

// wants gives the two elements whose order is asked for next.
func (s *insertion) wants(idx []int32) (x, y int32) {
	switch s.phase {
	case firstTwo:
		return idx[s.lo+1], idx[s.lo]
	case inRun:
		return idx[s.at], idx[s.at-1]
	}
	return idx[s.at], idx[(s.left+s.right)/2]
}

// take goes on with the answer, and tells whether the slice is sorted.
func (s *insertion) take(idx []int32, c int32) bool {
	switch s.phase {
	case firstTwo:
		s.falling, s.at, s.phase = c < 0, s.lo+2, inRun
		if s.at < s.hi {
			return false
		}
		s.endRun(idx)
	case inRun:
		if (c < 0) == s.falling {
			if s.at++; s.at < s.hi {
				return false
			}
		}
		s.endRun(idx)
	default:
		if mid := (s.left + s.right) / 2; c < 0 {
			s.right = mid
		} else {
			s.left = mid + 1
		}
		if s.left < s.right {
			return false
		}
		x := idx[s.at]
		copy(idx[s.left+1:s.at+1], idx[s.left:s.at])
		idx[s.left] = x
		s.at++
		s.left, s.right = s.lo, s.at
	}
	return s.at >= s.hi
}

func (s *insertion) endRun(idx []int32) {
	if s.falling {
		slices.Reverse(idx[s.lo:s.at])
	}
	s.phase, s.left, s.right = halving, s.lo, s.at
}

// insertionSort sorts each idx[off[i]:off[i+1]], all of them side by side; compare is that of mergeSort.
func insertionSort(idx, off []int32, compare func(at, left, right []int32) ([]int32, error)) error {
	var active []insertion
	for i := 0; i+1 < len(off); i++ {
		if off[i+1]-off[i] > 1 {
			active = append(active, insertion{lo: off[i], hi: off[i+1]})
		}
	}
	at, left, right := make([]int32, len(active)), make([]int32, len(active)), make([]int32, len(active))
	for n := len(active); n > 0; n = len(active) {
		for i := range active {
			at[i] = active[i].lo
			left[i], right[i] = active[i].wants(idx)
		}
		c, err := compare(at[:n], left[:n], right[:n])
		if err != nil {
			return err
		}
		rest := active[:0]
		for i := range active {
			if s := active[i]; !s.take(idx, c[i]) {
				rest = append(rest, s)
			}
		}
		active = rest
	}
	return nil
}
