//! What the engines of one process do alike: local descriptors, and being the only rank.
//!
//! The reference engine and the threads engine differ in how they compute on columns. Everything here is the same in
//! both, so it stands once, as methods for their implementations of [`crate::engine::Engine`]; each needs a field
//! `meter`.

/// The methods of `Engine` that do not depend on how columns are computed on.
macro_rules! one_process_methods {
    () => {
        fn packed(
            &mut self,
            lengths: $crate::data::vector::Vector,
        ) -> Result<$crate::data::descriptor::Descriptor, $crate::engine::Fault> {
            Ok($crate::data::descriptor::Descriptor::packed(&self.meter, lengths))
        }

        fn view(
            &mut self,
            starts: $crate::data::vector::Vector,
            lengths: $crate::data::vector::Vector,
        ) -> Result<$crate::data::descriptor::Descriptor, $crate::engine::Fault> {
            Ok($crate::data::descriptor::Descriptor::view(&self.meter, starts, lengths))
        }

        fn starts(
            &mut self,
            descriptor: &$crate::data::descriptor::Descriptor,
        ) -> Result<$crate::data::vector::Vector, $crate::engine::Fault> {
            Ok(descriptor.starts_vector()?.clone())
        }

        fn lengths(
            &mut self,
            descriptor: &$crate::data::descriptor::Descriptor,
        ) -> Result<$crate::data::vector::Vector, $crate::engine::Fault> {
            Ok(descriptor.lengths_vector().clone())
        }

        fn segments(&self, descriptor: &$crate::data::descriptor::Descriptor) -> usize {
            descriptor.segments()
        }

        fn total(&mut self, descriptor: &$crate::data::descriptor::Descriptor) -> Result<usize, $crate::engine::Fault> {
            Ok(descriptor.total()?)
        }

        fn import(
            &mut self,
            piece: nesl_vcode::Constants,
        ) -> Result<$crate::data::vector::Vector, $crate::engine::Fault> {
            Ok($crate::data::vector::Vector::adopt_constants(&self.meter, piece)?)
        }

        fn fetch(
            &mut self,
            column: &$crate::data::vector::Vector,
            start: usize,
            length: usize,
        ) -> Result<$crate::engine::Window, $crate::engine::Fault> {
            Ok($crate::engine::Window { start, elements: column.slice(start, length).to_constants() })
        }

        fn own(
            &mut self,
            column: &$crate::data::vector::Vector,
        ) -> Result<$crate::engine::Window, $crate::engine::Fault> {
            Ok($crate::engine::Window { start: 0, elements: column.to_constants() })
        }

        fn rank(&self) -> (usize, usize) {
            (0, 1)
        }

        fn agree<T, E: Clone + serde::Serialize + serde::de::DeserializeOwned>(
            &mut self,
            outcome: Result<T, E>,
        ) -> Result<T, E> {
            outcome
        }

        fn allocated(&self) -> u64 {
            self.meter.allocated()
        }

        fn counters(&mut self, machine: $crate::data::counters::Counters) -> Vec<$crate::data::counters::Counters> {
            let mut counters = machine;
            self.meter.report(&mut counters);
            vec![counters]
        }
    };
}
